import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { completionScript, SHELLS, type Shell } from './completion.ts';
import {
  type AgentConfig,
  type ControllerConfig,
  type Environment,
  options,
  type ServeConfig,
  type UpConfig,
} from './config.ts';
import type { CordonConfig, DrainConfig } from './drain.ts';
import { EXIT_TEXT } from './exit-codes.ts';
import { type IO, write } from './io.ts';
import type { LogsConfig } from './logs.ts';
import { VERSION } from './version.ts';

/**
 * The command line. What a command needs is imported when it runs: `--help` and `version` must not wait for a control
 * plane to be loaded.
 */
export function makeProgram(io: IO): Command {
  const program = new Command('holdfast')
    .description('Sandboxes whose limits hold, or that do not start: on Docker, driven by kubectl.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('--help', 'what a command does, and its flags')
    .helpCommand('help [command]', 'the same as COMMAND --help')
    .showHelpAfterError('(holdfast help lists the commands)')
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      'after',
      `
Examples:
  holdfast up                                       everything, on this machine
  export KUBECONFIG=~/.local/state/holdfast/kubeconfig
  kubectl apply -f sandbox.yaml
  kubectl get sandboxes
  holdfast logs my-sandbox --follow

${EXIT_TEXT}`,
    );
  for (const command of [
    upCommand(io),
    controllerCommand(io),
    agentCommand(io),
    apiCommand(io),
    logsCommand(io),
    cordonCommand(io),
    uncordonCommand(io),
    drainCommand(io),
    crdsCommand(io),
    completionCommand(io, program),
    versionCommand(io),
  ]) {
    program.addCommand(command.copyInheritedSettings(program));
  }
  return program;
}

function upCommand(io: IO): Command {
  return withOptions(new Command('up'), io.env, [
    'dataDir',
    'nodeName',
    'docker',
    'port',
    'host',
    'endSandboxes',
    'initBinary',
    'logLevel',
    'logFormat',
  ])
    .description('run everything on this machine: API, controller and node agent')
    .addHelpText(
      'after',
      `
Needs a Docker daemon and nothing else. kubectl and every other client of Kubernetes work on it with the kubeconfig
that it writes (kubeconfig in the data folder, readable by its owner only).

Ctrl-C stops it and leaves the sandboxes running: the next "holdfast up" finds them as they are. A second Ctrl-C ends
it at once, which loses nothing either.

Examples:
  holdfast up
  holdfast up --docker unix:///run/user/1000/docker.sock
  holdfast up --data-dir ./state --end-sandboxes     throw-away`,
    )
    .action(async (config: UpConfig) => (await import('./up.ts')).up(config, io));
}

function controllerCommand(io: IO): Command {
  return withOptions(new Command('controller'), io.env, [
    'kubeconfig',
    'context',
    'identity',
    'leaderElection',
    'healthAddress',
    'logLevel',
    'logFormat',
  ])
    .description('run the controller of a cluster')
    .addHelpText(
      'after',
      `
Of several the elected one works; the others wait.

Examples:
  holdfast crds | kubectl apply -f -
  holdfast controller --kubeconfig ~/.kube/config --context staging`,
    )
    .action(async (config: ControllerConfig) => (await import('./controller.ts')).controller(config, io));
}

function agentCommand(io: IO): Command {
  return withOptions(new Command('agent'), io.env, [
    'kubeconfig',
    'context',
    'nodeName',
    'docker',
    'dataDir',
    'endSandboxes',
    'initBinary',
    'reserveCPU',
    'reserveMemory',
    'reserveForKubelet',
    'healthAddress',
    'logLevel',
    'logFormat',
  ])
    .description('run the agent of one node')
    .addHelpText(
      'after',
      `
One for each machine with a Docker daemon. A second agent with the same node name launches nothing while the first
renews its lease.

Examples:
  holdfast agent --kubeconfig ./kubeconfig --node-name build-1
  DOCKER_HOST=tcp://127.0.0.1:2375 holdfast agent`,
    )
    .action(async (config: AgentConfig) => (await import('./agent.ts')).agent(config, io));
}

function apiCommand(io: IO): Command {
  return withOptions(new Command('api'), io.env, ['dataDir', 'port', 'host', 'logLevel', 'logFormat'])
    .description('run the API of one machine by itself')
    .addHelpText(
      'after',
      `
The control plane of "holdfast up" without controller and agent, which then run as processes of their own.

Examples:
  holdfast api --data-dir ./state &
  holdfast controller --kubeconfig ./state/kubeconfig &
  holdfast agent --kubeconfig ./state/kubeconfig --data-dir ./state`,
    )
    .action(async (config: ServeConfig) => (await import('./api.ts')).api(config, io));
}

function logsCommand(io: IO): Command {
  return new Command('logs')
    .argument('<sandbox>', 'name of the sandbox')
    .description('print what a sandbox of this machine has written')
    .addOption(new Option('-n, --namespace <name>', 'its namespace (default: that of the context)'))
    .addOption(new Option('-f, --follow', 'go on until it ends'))
    .addOption(new Option('--setup', 'the output of its setup command instead of the main one'))
    .addOption(new Option('--stdout', 'standard output alone'))
    .addOption(new Option('--stderr', 'standard error alone'))
    .addOption(new Option('--tail <lines>', 'only the last lines of what there is').argParser(lineCount))
    .addOption(new Option('--timestamps', 'the time before each line'))
    .addOption(options.localKubeconfig())
    .addOption(options.context())
    .addOption(options.dataDir(io.env))
    .addHelpText(
      'after',
      `
Works on the machine that the sandbox is on, from the files of its agent, which keep the last part of the output.
The sandbox's standard output goes to standard output and its standard error to standard error.

Examples:
  holdfast logs my-sandbox
  holdfast logs my-sandbox -n team-a --follow --tail 20
  holdfast logs my-sandbox --setup --stderr`,
    )
    .action(async (name: string, config: LogsConfig) => (await import('./logs.ts')).logs(name, config, io));
}

function nodeCommand(io: IO, name: string): Command {
  return new Command(name)
    .argument('<node>', 'name of the SandboxNode')
    .addOption(options.localKubeconfig())
    .addOption(options.context())
    .addOption(options.dataDir(io.env));
}

function cordonCommand(io: IO): Command {
  return nodeCommand(io, 'cordon')
    .description('let no new sandboxes come to a node')
    .addHelpText(
      'after',
      `
What is there stays and runs on. The same as spec.unschedulable of the SandboxNode.

Examples:
  holdfast cordon build-1`,
    )
    .action(async (node: string, config: CordonConfig) =>
      (await import('./drain.ts')).cordon(node, true, config, io),
    );
}

function uncordonCommand(io: IO): Command {
  return nodeCommand(io, 'uncordon')
    .description('let sandboxes come to a node again')
    .addHelpText(
      'after',
      `
Takes back cordon and drain. What has been moved meanwhile stays where it is.

Examples:
  holdfast uncordon build-1`,
    )
    .action(async (node: string, config: CordonConfig) =>
      (await import('./drain.ts')).cordon(node, false, config, io),
    );
}

function drainCommand(io: IO): Command {
  return nodeCommand(io, 'drain')
    .description('empty a node for maintenance')
    .addOption(
      new Option('--grace <seconds>', 'how long to wait for what goes by itself')
        .argParser(seconds)
        .default(300),
    )
    .addOption(new Option('--delete', 'after that, delete what is still there, with its filesystem'))
    .addOption(new Option('--dry-run', 'only say what would become of each sandbox'))
    .addHelpText(
      'after',
      `
Cordons the node. Then, of what is on it:
  not begun, or onNodeLoss: Replace   is ended within its terminationGracePeriodSeconds and placed anew elsewhere
  a command with onNodeLoss: Keep     is waited for
  retained, with onNodeLoss: Keep     stays, as its filesystem is on this node: delete it, or use --delete
Ends with 0 when nothing is left but what has ended. The node stays cordoned until "holdfast uncordon".

Examples:
  holdfast drain build-1 --dry-run
  holdfast drain build-1 --grace 3600
  holdfast drain build-1 --grace 60 --delete`,
    )
    .action(async (node: string, config: DrainConfig) =>
      (await import('./drain.ts')).drain(node, config, io),
    );
}

function crdsCommand(io: IO): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions as YAML')
    .addHelpText(
      'after',
      `
"holdfast up" and "holdfast api" have them already; a cluster needs them once a version.

Examples:
  holdfast crds | kubectl apply -f -`,
    )
    .action(async () => (await import('./crds.ts')).crds(io));
}

function completionCommand(io: IO, program: Command): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .description('print the completion script of a shell')
    .addHelpText(
      'after',
      `
Examples:
  source <(holdfast completion bash)
  holdfast completion zsh > "\${fpath[1]}/_holdfast"
  holdfast completion fish > ~/.config/fish/completions/holdfast.fish`,
    )
    .action(async (shell: Shell) => await write(io.stdout, completionScript(program, shell)));
}

function versionCommand(io: IO): Command {
  return new Command('version')
    .description('print the versions of Holdfast and of what runs it')
    .addHelpText('after', '\nExamples:\n  holdfast version')
    .action(
      async () =>
        await write(
          io.stdout,
          `holdfast ${VERSION}\nNode.js ${process.versions.node}, ${process.platform} ${process.arch}\n`,
        ),
    );
}

function withOptions(command: Command, env: Environment, names: (keyof typeof options)[]): Command {
  for (const name of names) command.addOption(options[name](env));
  return command;
}

function seconds(value: string): number {
  if (!/^\d{1,7}$/.test(value)) throw new InvalidArgumentError('Accepted: a whole number of seconds.');
  return Number(value);
}

function lineCount(value: string): number {
  if (!/^\d{1,9}$/.test(value))
    throw new InvalidArgumentError('Accepted: a whole number from 0 to 999999999.');
  return Number(value);
}
