import { Command, CommanderError, Help, type Option } from "commander";
import { addAgentKeysCommand } from "./agent-keys.ts";
import { addAnswerCommand } from "./answer.ts";
import { addBackupCommand } from "./backup.ts";
import { addCallCommand } from "./call.ts";
import { addCatalogCommand } from "./catalog.ts";
import { originOf } from "./client/open-client.ts";
import { type CommandContext, processContext } from "./command/context.ts";
import { CommandError, failureText } from "./command/error.ts";
import { addExamples } from "./command/examples.ts";
import { refuseUnknownCommand } from "./command/unknown-command.ts";
import { addConnectCommand } from "./connect.ts";
import { addDeliveriesCommand } from "./deliveries.ts";
import { addEndpointsCommand } from "./endpoints.ts";
import { addEraseCommand } from "./erase.ts";
import { addExportCommand } from "./export.ts";
import { addListenCommand } from "./listen.ts";
import { addReplayCommand } from "./replay.ts";
import { addRestoreCommand } from "./restore.ts";
import { addResumeCommand } from "./resume.ts";
import { addSearchCommand } from "./search.ts";
import { addServeCommand } from "./serve.ts";
import { addStatsCommand } from "./stats.ts";
import { addSubscriptionsCommand } from "./subscriptions.ts";
import { addAskEndpointsCommand } from "./topics/ask-endpoints.ts";
import { addAsksCommand } from "./topics/asks.ts";
import { addAuditCommand } from "./topics/audit.ts";
import { addConnectionsCommand } from "./topics/connections.ts";
import { addConsoleCommand } from "./topics/console.ts";
import { addContactsCommand } from "./topics/contacts.ts";
import { addCredentialsCommand } from "./topics/credentials.ts";
import { addEventsCommand } from "./topics/events.ts";
import { addGrantsCommand } from "./topics/grants.ts";
import { addHooksCommand } from "./topics/hooks.ts";
import { addJobsCommand } from "./topics/jobs.ts";
import { addKeysCommand } from "./topics/keys.ts";
import { addLimitsCommand } from "./topics/limits.ts";
import { addProjectsCommand } from "./topics/projects.ts";
import { addQuarantineCommand } from "./topics/quarantine.ts";
import { addReplaysCommand } from "./topics/replays.ts";
import { addSecretsCommand } from "./topics/secrets.ts";
import { addSkillsCommand } from "./topics/skills.ts";
import { addStandingCommand } from "./topics/standing.ts";
import { addToolCallsCommand } from "./topics/tool-calls.ts";
import { addVaultCommand } from "./topics/vault.ts";
import { addTriggerCommand } from "./trigger.ts";
import { version } from "./version.ts";
import { addWatchCommand } from "./watch.ts";
import { addWhoamiCommand } from "./whoami.ts";

/** Runs the `svc` command line with its arguments (without node and script) and sets the exit code of the process. */
export async function run(argv: string[]): Promise<void> {
  process.exitCode = await runCommand(argv, processContext());
}

/**
 * Runs one command and resolves with its exit code: 0 when it did what it should, 1 when that was refused or failed, with the reason
 * as a line on standard error, 2 when the arguments are wrong, 3 when a call is held or a watched job waits for a person, 130 when a
 * watch was interrupted.
 */
export async function runCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  let running: string | undefined;
  try {
    const program = createProgram(context).hook("preAction", (_, action) => {
      running = pathOf(action);
    });
    refuseUnknownCommand(program, argv);
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (err) {
    // commander has written what was wrong, or the help that was asked for.
    if (err instanceof CommanderError) return err.exitCode === 0 ? 0 : 2;
    context.note(`svc: ${failureText(err, originOf(context), running)}`);
    return err instanceof CommandError ? err.exitCode : 1;
  }
}

/** A command as it is typed: `svc jobs park`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Everything but `serve`, in the order of the help. */
const commands: readonly ((program: Command, context: CommandContext) => void)[] = [
  addProjectsCommand,
  addKeysCommand,
  addQuarantineCommand,
  addVaultCommand,
  addBackupCommand,
  addRestoreCommand,
  addResumeCommand,
  addAuditCommand,
  addListenCommand,
  addTriggerCommand,
  addEndpointsCommand,
  addSubscriptionsCommand,
  addEventsCommand,
  addDeliveriesCommand,
  addReplayCommand,
  addReplaysCommand,
  addCatalogCommand,
  addSecretsCommand,
  addSearchCommand,
  addConnectCommand,
  addConnectionsCommand,
  addCredentialsCommand,
  addCallCommand,
  addToolCallsCommand,
  addHooksCommand,
  addLimitsCommand,
  addJobsCommand,
  addSkillsCommand,
  addStandingCommand,
  addAsksCommand,
  addAnswerCommand,
  addAskEndpointsCommand,
  addContactsCommand,
  addStatsCommand,
  addWatchCommand,
  addConsoleCommand,
  addGrantsCommand,
  addAgentKeysCommand,
  addWhoamiCommand,
  addEraseCommand,
  addExportCommand,
];

/** Every command as it is typed behind `svc`, groups before their members: `jobs`, `jobs submit`, … */
export function commandNames(): string[] {
  const namesOf = (command: Command, before: readonly string[]): string[] =>
    command.commands.flatMap((member) => {
      const path = [...before, member.name()];
      return [path.join(" "), ...namesOf(member, path)];
    });
  return namesOf(createProgram(processContext()), []);
}

/** Returns an option's description as help prints it: a list that is empty until the option is given is no default worth a word. */
function describeOption(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (?:\[\]|\{\})\)$/, "");
}

function createProgram(context: CommandContext): Command {
  const program = new Command("svc")
    .description("Tools of many apps for agents, and signed webhooks, on one process and one PostgreSQL.")
    .version(version, "--version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.note(text.trimEnd()),
    })
    .configureHelp({ optionDescription: describeOption })
    .showHelpAfterError("(add --help for its options and examples)");
  addServeCommand(program);
  for (const add of commands) add(program, context);
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
