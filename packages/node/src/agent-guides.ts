import { programGuide } from "@svc/jobs";
import { type AgentGuide, type CallOutcome, callOutcomes } from "@svc/tools";

const eventsText = `# Follow events

An event is a change in an app, such as a new ticket. Each trigger of the catalog is one kind of event, such as \`calendar.events_changed\`.

1. \`events/list\` returns the kinds of events that you may follow, with the JSON Schema of each payload.
2. If you can receive requests, call \`events/subscribe\` with \`name\` and
   \`"delivery": {"mode": "webhook", "url": "https://…", "secret": "whsec_…"}\`. svc first posts a verification to the URL: answer 2xx with the
   same \`challenge\`. Repeat the same request before \`refreshBefore\`, or the subscription ends.
3. If you cannot, call \`events/poll\` with \`name\`. The first answer has no events, but a \`cursor\`. Send the newest cursor with each later poll.
   With \`timeoutMs\` (at most 25000), the poll waits for an event.

\`"arguments": {"entity_id": "…"}\` limits both to the events of one user. A delivery can arrive twice: recognize it by \`eventId\`.
Follow events with a schedule of svc instead if a job must start at each event, also while you are not running.`;

const accountAdvice = "the user must connect the account, or connect it again. Tell the user.";
const pauseAdvice = "try a read again after a pause. For a write, first read whether it took effect.";

/** The next step of an agent after a call, by the call's outcome. */
const advice: Readonly<Record<CallOutcome, string>> = {
  ok: "the call was executed.",
  held: `nothing was sent. Show the user what would be sent. After the user agreed, call again with \`"confirm": true\` in the arguments. If a
  person of the project must confirm, the answer names a job, which makes the call after this person agreed. Do not repeat the call.`,
  invalid_arguments: "nothing was sent. Correct the arguments that `faults` names, and call again.",
  no_account: accountAdvice,
  account_unusable: accountAdvice,
  missing_scope: accountAdvice,
  not_callable: "this tool cannot be called here. Search for another one.",
  not_bound:
    "nothing was sent, because the operator of svc has not set the address of the app. Tell the user. Do not repeat the call.",
  rate_limited: pauseAdvice,
  provider_error: "the app refused the call. The message has its reason. The same call usually fails again.",
  timeout: pauseAdvice,
  unreachable:
    "the app executed nothing. If `retryable` is true, call again after a pause. Otherwise, inform the user.",
  outcome_unknown: "the write may have been executed. Never repeat it before you have read the state in the app.",
};

/** Returns one line for each text in `advice`, with the outcomes of calls that the text is for. */
function adviceLines(): string {
  const groups = Map.groupBy(callOutcomes, (outcome) => advice[outcome]);
  return [...groups]
    .map(([says, outcomes]) => `- ${outcomes.map((one) => `\`${one}\``).join(", ")}: ${says}`)
    .join("\n");
}

const errorsText = `# Handle errors

Read \`structuredContent\` of an answer, not its text. \`outcome\` says how a call ended:

${adviceLines()}

If \`retryable\` is true, the same call may be sent again. An \`idempotency_key\` makes a write safe to repeat: the app gets it once.
An \`error\` with a \`reason\` in capital letters means that svc refused the request before any call. \`help\` says what would be right.`;

/** Guides that svc offers to agents as skills over MCP. */
export const agentGuides: readonly AgentGuide[] = [
  {
    name: "write-programs",
    description:
      "How to write a program for check_program and run_program: many calls in one request, over rows of a list, with conditions, questions to a person, and undo. Read it before the first program.",
    text: `# Write programs\n\n${programGuide}`,
    group: "programs",
  },
  {
    name: "follow-events",
    description:
      "How to subscribe to events of apps with events/subscribe, or to poll them with events/poll. Read it when the user wants to follow changes in an app.",
    text: eventsText,
  },
  {
    name: "handle-errors",
    description:
      "What each outcome of a tool call means, and if the call may be repeated. Read it when a call did not end with ok.",
    text: errorsText,
  },
];
