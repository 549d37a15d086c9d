import { nearest } from "@svc/catalog/nearest";
import type { Command } from "commander";
import { nameCommands } from "./command/api-names.ts";
import { originOf } from "./command/client.ts";
import { type CommandHelp, helpOf } from "./command/command-help.ts";
import { type CommandContext, processContext } from "./command/context.ts";
import { type CommandMaker, optionsByField } from "./command/declared.ts";
import { failureText, type RanCommand } from "./command/error.ts";
import { addExamples } from "./command/options.ts";
import { nameProfile } from "./command/profiles.ts";
import { addAnswerCommand } from "./custom/answer.ts";
import { addBackupCommand, addRestoreCommand } from "./custom/backup.ts";
import { addCallCommand } from "./custom/call/call.ts";
import { addCompletionCommand } from "./custom/completion.ts";
import { addConnectCommand } from "./custom/connect/connect.ts";
import { addDoctorCommand } from "./custom/doctor.ts";
import { addEraseCommand } from "./custom/erase.ts";
import { addExportCommand } from "./custom/export.ts";
import { addListenCommand } from "./custom/listen/listen.ts";
import { addLoginCommand, addLogoutCommand, addUseCommand } from "./custom/login.ts";
import { addPublishCommand } from "./custom/publish.ts";
import { addReplayCommand } from "./custom/replays/replay.ts";
import { addResumeCommand } from "./custom/resume.ts";
import { addStatsCommand } from "./custom/stats.ts";
import { addTypesCommand } from "./custom/tool-types.ts";
import { addTriggerCommand } from "./custom/trigger/trigger.ts";
import { addWatchCommand } from "./custom/watch.ts";
import { createServeProgram, exitCodeOf } from "./serve-program.ts";
import { addAgentKeysCommand } from "./topics/agent-keys.ts";
import { addAskEndpointsCommand } from "./topics/ask-endpoints.ts";
import { addAsksCommand } from "./topics/asks.ts";
import { addAuditCommand } from "./topics/audit.ts";
import { addCellsCommand } from "./topics/cells.ts";
import { addConnectionsCommand } from "./topics/connections.ts";
import { addConsoleCommand } from "./topics/console.ts";
import { addContactsCommand } from "./topics/contacts.ts";
import { addCredentialsCommand } from "./topics/credentials.ts";
import { addDeliveriesCommand } from "./topics/deliveries.ts";
import { addEventTypesCommand } from "./topics/event-types.ts";
import { addEventsCommand } from "./topics/events.ts";
import { addGrantsCommand } from "./topics/grants.ts";
import { addHooksCommand } from "./topics/hooks.ts";
import { addJobsCommand } from "./topics/jobs.ts";
import { addKeysCommand } from "./topics/keys.ts";
import { addLimitsCommand } from "./topics/limits.ts";
import { addPeopleCommand } from "./topics/people.ts";
import { addPortalCommand } from "./topics/portal.ts";
import { addProjectsCommand } from "./topics/projects.ts";
import { addQuarantineCommand } from "./topics/quarantine.ts";
import { addReplaysCommand } from "./topics/replays.ts";
import { addSandboxCommand } from "./topics/sandbox.ts";
import { addSecretsCommand } from "./topics/secrets.ts";
import { addEndpointsCommand, addSearchCommand, addWhoamiCommand } from "./topics/single.ts";
import { addSkillsCommand } from "./topics/skills.ts";
import { addStandingCommand } from "./topics/standing.ts";
import { addSubscriptionsCommand } from "./topics/subscriptions.ts";
import { addToolCallsCommand } from "./topics/tool-calls.ts";
import { addToolkitsCommand } from "./topics/toolkits.ts";
import { addVaultCommand } from "./topics/vault.ts";
import { addWebhooksCommand } from "./topics/webhooks.ts";
import { addFailuresCommand, addFindCommand, addWhyCommand } from "./topics/why.ts";

/** Runs the `svc` command line with its arguments (without node and script) and sets the exit code of the process. */
export async function run(argv: string[]): Promise<void> {
  process.exitCode = await runCommand(argv, processContext());
}

/**
 * Runs one command. Resolves with its exit code:
 * - 0: success
 * - 1: refused or failed, or `svc doctor` has warnings; the reason is on standard error
 * - 2: wrong arguments, or `svc doctor` found errors
 * - 3: a call needs confirmation, or a watched job waits for a person
 * - 130: the user interrupted a watch
 */
export async function runCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  let running: RanCommand | undefined;
  const parse = async () => {
    const program = createProgram(context).hook("preAction", (top, action) => {
      nameProfile(context, top.opts<{ profile?: string }>().profile);
      running = { path: pathOf(action), options: optionsByField(action) };
    });
    refuseUnknownCommand(program, argv);
    await program.parseAsync(argv, { from: "user" });
  };
  return exitCodeOf(parse, context, (error) => failureText(error, originOf(context), running));
}

/** Returns the full name of a command as the user types it (for example `svc jobs park`). */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** All commands except `serve`, in the order of the help. */
const commands: Readonly<Record<string, CommandMaker>> = {
  projects: addProjectsCommand,
  keys: addKeysCommand,
  people: addPeopleCommand,
  cells: addCellsCommand,
  quarantine: addQuarantineCommand,
  vault: addVaultCommand,
  backup: addBackupCommand,
  restore: addRestoreCommand,
  resume: addResumeCommand,
  doctor: addDoctorCommand,
  audit: addAuditCommand,
  listen: addListenCommand,
  trigger: addTriggerCommand,
  endpoints: addEndpointsCommand,
  webhooks: addWebhooksCommand,
  publish: addPublishCommand,
  "event-types": addEventTypesCommand,
  portal: addPortalCommand,
  subscriptions: addSubscriptionsCommand,
  events: addEventsCommand,
  deliveries: addDeliveriesCommand,
  replay: addReplayCommand,
  replays: addReplaysCommand,
  toolkits: addToolkitsCommand,
  secrets: addSecretsCommand,
  search: addSearchCommand,
  connect: addConnectCommand,
  connections: addConnectionsCommand,
  credentials: addCredentialsCommand,
  call: addCallCommand,
  "tool-calls": addToolCallsCommand,
  types: addTypesCommand,
  hooks: addHooksCommand,
  limits: addLimitsCommand,
  jobs: addJobsCommand,
  skills: addSkillsCommand,
  standing: addStandingCommand,
  asks: addAsksCommand,
  answer: addAnswerCommand,
  "ask-endpoints": addAskEndpointsCommand,
  contacts: addContactsCommand,
  stats: addStatsCommand,
  watch: addWatchCommand,
  find: addFindCommand,
  failures: addFailuresCommand,
  why: addWhyCommand,
  sandbox: addSandboxCommand,
  console: addConsoleCommand,
  grants: addGrantsCommand,
  "agent-keys": addAgentKeysCommand,
  login: addLoginCommand,
  use: addUseCommand,
  logout: addLogoutCommand,
  completion: addCompletionCommand,
  whoami: addWhoamiCommand,
  erase: addEraseCommand,
  export: addExportCommand,
};

nameCommands(callsOf(commands, "svc"));

/**
 * Yields the API calls that each command makes, each with the full name of the command. Messages then show the command instead of the call.
 */
function* callsOf(
  makers: Readonly<Record<string, CommandMaker>>,
  before: string,
): Generator<readonly [call: string, command: string]> {
  for (const [name, { methods = [], shown = `${before} ${name}`, commands: members = {} }] of Object.entries(makers)) {
    for (const { name: call, words } of methods) yield [call, words === undefined ? shown : `${shown} ${words}`];
    yield* callsOf(members, `${before} ${name}`);
  }
}

/** Returns the name of every command as the user types it after `svc`. A group comes before its members (`jobs`, `jobs submit`, …). */
export function commandNames(): string[] {
  const namesOf = (command: Command, before: readonly string[]): string[] =>
    command.commands.flatMap((member) => {
      const path = [...before, member.name()];
      return [path.join(" "), ...namesOf(member, path)];
    });
  return namesOf(createProgram(processContext()), []);
}

/** Returns the help of every command in parts. The order is that of the printed help. */
export function commandHelp(): readonly CommandHelp[] {
  return createProgram(processContext()).commands.map((command) => helpOf(command));
}

function createProgram(context: CommandContext): Command {
  const program = createServeProgram(context).option(
    "--profile <name>",
    "profile of `svc login` to use (default: SVC_PROFILE, otherwise the one of `svc use`)",
  );
  for (const [name, add] of Object.entries(commands)) add(program, context, name);
  program.addHelpText("after", "\nIn a checkout, `npx svc <command>` runs a command, and `npm start` is `svc serve`.");
  addExamples(program, [
    "svc serve",
    "svc listen --forward http://localhost:3000/hook",
    "svc trigger calendar",
    'svc search "what is on my calendar"',
    "svc connect calendar --entity ada",
    "svc call calendar.list_events --entity ada --arg calendar_id=primary",
    "svc jobs submit remind.json --watch",
  ]);
  return program;
}

/**
 * Throws CommanderError if the arguments name an unknown command or an unknown subcommand. Without this check, commander would take a
 * misspelled subcommand as an argument of its group, if the group is also a command of its own.
 */
function refuseUnknownCommand(program: Command, argv: readonly string[]): void {
  let command = program;
  for (const [index, name] of argv.entries()) {
    if (command.commands.length === 0 || name.startsWith("-")) return;
    const found = command.commands.find((member) => [member.name(), ...member.aliases()].includes(name));
    if (found === undefined) {
      if (name === "help") return;
      const before = ["svc", ...argv.slice(0, index)].join(" ");
      const meant = nearest(
        name,
        command.commands.map((member) => member.name()),
      );
      const hint =
        meant === undefined ? `\`${before} --help\` lists the commands.` : `Did you mean \`${before} ${meant}\`?`;
      command.error(`error: unknown command '${before} ${name}'. ${hint}`, { exitCode: 2 });
    }
    command = found ?? command;
  }
}
