import type { Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface Entry {
  name: string;
  description: string;
  options: readonly Option[];
  /** What its first argument can be. */
  words: readonly string[];
}

/** The completion script of a shell for the commands and flags that `program` has. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands
    .filter((command) => command.name() !== 'help')
    .map((command) => ({
      name: command.name(),
      description: command.description(),
      options: command.options.filter((option) => !option.hidden),
      words: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    }));
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

function flagsOf({ options }: Entry): string[] {
  return [...options.flatMap(({ short, long }) => [short, long]), '--help'].filter(
    (flag): flag is string => flag !== undefined && flag !== null,
  );
}

function bash(commands: Entry[]): string {
  const cases = commands.map(
    (command) => `    ${command.name}) words="${[...flagsOf(command), ...command.words].join(' ')}" ;;`,
  );
  const choices = commands
    .flatMap(({ options }) => options)
    .filter(
      (option, index, all) =>
        option.argChoices && all.findIndex(({ long }) => long === option.long) === index,
    )
    .map(
      (option) =>
        `    ${option.long}) COMPREPLY=($(compgen -W "${option.argChoices?.join(' ')}" -- "$word")); return ;;`,
    );
  return `# bash completion of holdfast: source <(holdfast completion bash)
_holdfast() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words
  case $before in
${choices.join('\n')}
    --data-dir|--kubeconfig|--init-binary) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    *) words="${commands.map(({ name }) => name).join(' ')} help --help --version" ;;
  esac
  if [ "$COMP_CWORD" = 1 ]; then words="${commands.map(({ name }) => name).join(' ')} help --help --version"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _holdfast holdfast
`;
}

function zsh(commands: Entry[]): string {
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const plain = (text: string): string => text.replaceAll(/[[\]:]/g, (char) => `\\${char}`);
  const cases = commands.map((command) => {
    const options = command.options.map((option) => {
      const value =
        option.required || option.optional ? `:${plain(option.attributeName())}:${valuesOf(option)}` : '';
      const flags = [option.short, option.long].filter(Boolean);
      return quote(
        `${flags.length === 2 ? `(${flags.join(' ')})` : ''}${flags.at(-1)}[${plain(option.description)}]${value}`,
      );
    });
    const words = command.words.length > 0 ? [quote(`1:${command.name}:(${command.words.join(' ')})`)] : [];
    return `    ${command.name}) _arguments ${[...options, ...words].join(' \\\n      ')} ;;`;
  });
  return `#compdef holdfast
# zsh completion of holdfast: holdfast completion zsh > "\${fpath[1]}/_holdfast"
_holdfast() {
  local -a commands
  commands=(
${commands.map(({ name, description }) => `    ${quote(`${name}:${plain(description)}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _holdfast ]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`;
}

function valuesOf(option: Option): string {
  if (option.argChoices) return `(${option.argChoices.join(' ')})`;
  return /<(folder|file)>/.test(option.flags) ? '_files' : ' ';
}

function fish(commands: Entry[]): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap((command) => [
    `complete -c holdfast -n __fish_use_subcommand -f -a ${command.name} -d ${quote(command.description)}`,
    ...command.options.map((option) => {
      const short = option.short ? ` -s ${option.short.slice(1)}` : '';
      const long = option.long ? ` -l ${option.long.slice(2)}` : '';
      const takes = option.required || option.optional ? ' -r' : '';
      const values = option.argChoices ? ` -f -a ${quote(option.argChoices.join(' '))}` : '';
      return `complete -c holdfast -n '__fish_seen_subcommand_from ${command.name}'${short}${long}${takes}${values} -d ${quote(option.description)}`;
    }),
    ...(command.words.length > 0
      ? [
          `complete -c holdfast -n '__fish_seen_subcommand_from ${command.name}' -f -a ${quote(command.words.join(' '))}`,
        ]
      : []),
  ]);
  return `# fish completion of holdfast: holdfast completion fish > ~/.config/fish/completions/holdfast.fish\n${lines.join('\n')}\n`;
}
