import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { makeProgram } from './program.ts';
import { run } from './run.ts';

const HEAD = `<!-- Generated from the command's own --help by cli/generated-files.ts (make generate). -->

# The \`holdfast\` command

Everything \`holdfast --help\` says, for reading. A flag that takes a value can be given as the environment variable named
with it instead; the flag counts where both are given. These variables count too:

| variable                                               | meaning                                                          |
| ------------------------------------------------------ | ---------------------------------------------------------------- |
| \`DOCKER_HOST\`                                          | where the Docker daemon is, without \`--docker\`                   |
| \`KUBECONFIG\`                                           | kubeconfig files, as for kubectl, without \`--kubeconfig\`         |
| \`KUBERNETES_SERVICE_HOST\`, \`KUBERNETES_SERVICE_PORT\` | set in a pod: the API of its cluster, by its service account     |
| \`XDG_STATE_HOME\`                                       | where the data folder is by default; else \`~/.local/state\`       |
| \`XDG_RUNTIME_DIR\`, \`HOME\`                            | where sockets of Docker and \`~/.kube/config\` are looked for      |
| \`NO_COLOR\`                                             | no colours in logs on a terminal                                 |

Logs go to standard error, results to standard output. With one data folder one \`up\`, \`api\` or \`agent\` can run at a
time; a second says who has it.
`;

interface GeneratedFile {
  path: string;
  content: string;
}

/** docs/cli.md, from what the command prints. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const names = makeProgram({
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: {},
    stop: new AbortController().signal,
  }).commands.map((command) => command.name());
  const sections = [section('holdfast', await help([]))];
  for (const name of names) sections.push(section(`holdfast ${name}`, await help([name])));
  return [{ path: 'docs/cli.md', content: [HEAD, ...sections].join('\n') }];
}

function section(title: string, body: string): string {
  return `## \`${title}\`\n\n\`\`\`text\n${body.trimEnd()}\n\`\`\`\n`;
}

async function help(command: string[]): Promise<string> {
  const stdout = new PassThrough();
  const printed = text(stdout);
  await run([...command, '--help'], {
    stdout,
    stderr: new PassThrough(),
    env: {},
    stop: new AbortController().signal,
  });
  stdout.end();
  return await printed;
}
