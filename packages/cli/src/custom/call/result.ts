import { CallToolResponseSchema } from "@svc/gen/tools";
import type { CallToolResponse, ToolRequest } from "@svc/sdk";
import { withCommands } from "../../command/api-names.ts";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";
import { indentJson, messageText } from "../../text/message.ts";
import { countText } from "../../text/table.ts";

/** Exit code of `svc call` if a person must confirm the tool call before svc sends it. */
const heldExitCode = 3;

/**
 * Prints the result of a call as JSON to standard output. For a dry run, prints the request instead. Everything else goes to standard
 * error. Throws CommandError if the outcome is not `ok`. A dry run has no outcome, so it does not throw.
 */
export function printCall(response: CallToolResponse, asked: CallRun, context: CommandContext): void {
  const { toolSlug, isDryRun, asMessage } = asked;
  const { outcome, request, warnings, sandbox, replayed } = response;
  if (asMessage) context.print(messageText(CallToolResponseSchema, response));
  else if (isDryRun && request !== undefined) {
    printDryRun(outcome, request, context);
  }
  if (isDryRun && request !== undefined) return;
  if (outcome === "held") throw held(response, toolSlug, context);
  if (outcome !== "ok") throw failed(response, asked, context);
  if (!asMessage) context.print(indentJson(response.resultJson));
  for (const warning of warnings) context.note(`Warning: ${warning}`);
  if (replayed)
    context.note("Replayed: this is the answer of the first call with this idempotency key; nothing was sent.");
  if (sandbox) context.note(isSkill(toolSlug) ? skillNote : "Sandbox: the result is made up; no app was called.");
}

const skillNote = "Sandbox: the job was submitted; the results of its calls are made up.";

/** True if the tool is a skill. A call of a skill submits a job. */
export function isSkill(toolSlug: string): boolean {
  return toolSlug.startsWith("skills.");
}

/** The tool that the command called, and the entity (customer or user) of the call. */
type CalledTool = { readonly toolSlug: string; readonly entity: string | undefined };

/** The options with which the user made a call. */
type CallRun = CalledTool & {
  readonly isDryRun: boolean;
  /** True if the option `--json` is given: the command then prints the server's whole answer, and not only the result. */
  readonly asMessage: boolean;
};

function printDryRun(outcome: string, request: ToolRequest, context: CommandContext): void {
  for (const line of requestLines(request)) context.print(line);
  context.note(
    `Dry run: nothing was sent.${outcome === "held" ? " Without --confirm the call needs confirmation." : ""}`,
  );
}

function held({ request, jobId }: CallToolResponse, toolSlug: string, context: CommandContext): CommandError {
  if (request !== undefined) {
    context.note("Request:");
    for (const line of requestLines(request)) context.note(`  ${line}`);
  }
  const how =
    jobId === ""
      ? "is destructive, and nothing was sent. The same command with --confirm sends it."
      : `needs a person's confirmation, and nothing was sent. Job ${jobId} asks the person, and then sends it: \`svc jobs watch ${jobId}\`.`;
  return new CommandError(`held: ${toolSlug} ${how}`, heldExitCode);
}

function failed(response: CallToolResponse, asked: CallRun, context: CommandContext): CommandError {
  const { toolSlug } = asked;
  const { outcome, message, providerStatus, faults } = response;
  for (const { pointer, message: text, givenJson } of faults) {
    const given = pointer === "" || givenJson === "" ? "" : `; given: ${givenJson}`;
    context.note(`  ${pointer || "the arguments"} ${text}${given}`);
  }
  if (faults.length > 0) {
    const count = countText(faults.length, "problem");
    return new CommandError(
      `${outcome}: ${count}, and nothing was sent. \`svc toolkits show ${toolSlug}\` shows the arguments.`,
    );
  }
  const status = providerStatus === 0 ? "" : ` (HTTP ${providerStatus})`;
  const text = spokenMessage(message, asked).replace(/\.?$/, ".");
  return new CommandError(`${outcome}${status}: ${text} ${adviceOf(response, asked)}`.trimEnd());
}

/** Returns the message of a call in the words of the command line. Advice to connect an account becomes a complete command. */
export function spokenMessage(message: string, asked: CalledTool): string {
  return withCommands(message, { InitiateConnection: connectCommand(asked) });
}

function connectCommand({ toolSlug, entity = "" }: CalledTool): string {
  const [toolkit = ""] = toolSlug.split(".");
  // If the call has no entity, the shown command contains the placeholder `<id>`.
  const id = entity === "" ? "<id>" : shellWord(entity);
  return `\`svc connect ${toolkit} --entity ${id}\``;
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function adviceOf({ outcome, retryable, retryAfter, callId }: CallToolResponse, asked: CallRun): string {
  if (retryable) {
    const wait = retryAfter === undefined ? "" : ` in ${Number(retryAfter.seconds) + retryAfter.nanos / 1e9} s`;
    return `The same call can be sent again${wait}.`;
  }
  switch (outcome) {
    case "account_unusable":
    case "missing_scope":
      return `${connectCommand(asked)} connects the account again.`;
    case "outcome_unknown":
      return `\`svc tool-calls show ${callId}\` shows what was sent.`;
    default:
      return "";
  }
}

function requestLines({ method, url, headers, bodyJson }: ToolRequest): string[] {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...fields, ...(bodyJson === "" ? [] : indentJson(bodyJson).split("\n"))];
}
