import { TriggersService, type TryNowRequest, type TryNowResponse } from "@svc/gen/triggers";
import type { Delivery, DeliveryAttempt } from "@svc/sdk";
import { InvalidArgumentError } from "commander";
import { CommandError } from "../command/error.ts";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { plainText } from "../text/plain.ts";
import { factLines, tableLines, timeText } from "../text/table.ts";

const { listDeliveries, getDelivery, listDeliveryAttempts, tryNow } = TriggersService.method;
const exampleId = "dlv_01h455vb4pex5vsknk084sn02q";
const idHelp = "id of the delivery, dlv_…; deliveries to ask endpoints have such ids too";

/** Parts that are the same in all commands that make waiting deliveries due at once: the output texts, and the notes to the user. */
export const tryParts = {
  json: "the answer as JSON",
  shows: ({ count }: TryNowResponse) => `${count} ${count === 1 ? "delivery is" : "deliveries are"} due now`,
  notes: (
    { count, subscription }: TryNowResponse,
    {
      request: { deliveryId, subscriptionId },
      asJson,
    }: { readonly request: Partial<TryNowRequest>; readonly asJson: boolean },
  ) =>
    asJson
      ? []
      : [
          ...(count > 0 && subscription?.health?.failingSince !== undefined
            ? ["The endpoint failed last time: svc sends one delivery to test it, and the others if that one succeeds."]
            : []),
          `\`svc deliveries ${deliveryId === undefined ? "list --subscription" : "show"} ${deliveryId ?? subscriptionId}\` shows the results.`,
        ],
} as const;

const deliveryKinds = ["waiting", "retrying", "failed", "delivered"] as const;

/** Returns the states of `--states`. Throws InvalidArgumentError for any other word. */
function parseStates(text: string): string[] {
  const states = text.split(",").map((state) => state.trim());
  const unknown = states.find((state) => !deliveryKinds.some((kind) => kind === state));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`expected ${deliveryKinds.join(", ")}, separated by commas, not ${unknown}`);
  return states;
}

/** The commands `svc deliveries list|show|attempts|try`, for the deliveries of events to endpoints. */
export const addDeliveriesCommand = topic({
  says: "list the deliveries of an event or of a subscription, and their attempts",
  examples: ["svc deliveries --event evt_01h455vb4pex5vsknk084sn02q", `svc deliveries attempts ${exampleId}`],
  commands: {
    list: list(listDeliveries, {
      says: "list the deliveries of an event, of a subscription, or in a state, newest first",
      isDefault: true,
      shown: "svc deliveries",
      options: [
        ["--event <id>", "delivered event, evt_…", { fills: "eventId" }],
        ["--subscription <id>", "receiving subscription, sub_…", { fills: "subscriptionId" }],
        ["--state <state>", "only deliveries in this state", { choices: ["pending", "delivered", "dead_letter"] }],
        [
          "--states <states>",
          `only deliveries in these states: ${deliveryKinds.join(", ")}; separated by commas`,
          { parse: parseStates },
        ],
        [
          "--status-code <code>",
          "only deliveries whose latest failed attempt got this HTTP status",
          { parse: parseCount },
        ],
        ["--trigger <slug>", "only deliveries of events of this trigger", { fills: "triggerSlug" }],
        ["--failed", "only deliveries that were attempted and have not succeeded", { fills: "onlyFailed" }],
        [
          "--since <when>",
          "only deliveries queued at or after this time: 2h for two hours ago, or 2026-03-14T09:00:00Z",
        ],
        ["--until <when>", "only deliveries queued before this time"],
        ["--limit <count>", "largest number of deliveries to list", { parse: parseCount, default: 100 }],
      ],
      request: ({ values: { event = "", subscription = "", state = "", states, failed, since } }) => {
        const isTimed = since !== undefined && (state !== "" || failed !== undefined);
        if (event === "" && subscription === "" && states === undefined && !isTimed)
          throw new CommandError(
            "no deliveries are selected: give --event, --subscription or --states, or --since with --state or --failed, such as `svc deliveries --states retrying,failed`",
            2,
          );
        return {};
      },
      rows: "deliveries",
      table: deliveryTable,
      json: "the deliveries as a JSON list",
      examples: [
        "svc deliveries list --event evt_01h455vb4pex5vsknk084sn02q",
        "svc deliveries list --state dead_letter --since 24h",
        "svc deliveries list --failed --since 24h",
        "svc deliveries list --states retrying,failed --status-code 503",
        "svc deliveries list --subscription sub_01h455vb4pex5vsknk084sn02q --limit 20",
      ],
    }),
    show: call(getDelivery, {
      says: "show one delivery: its event, its endpoint, its state and its next attempt",
      takes: { "<id>": idHelp },
      result: "delivery",
      json: "the delivery as JSON",
      shows: ({ delivery }) => (delivery === undefined ? [] : factLines(factsOf(delivery))),
      examples: [`svc deliveries show ${exampleId}`],
    }),
    attempts: list(listDeliveryAttempts, {
      says: "list every attempt of a delivery, latest first: the address and the answer",
      takes: { "<id>": [idHelp, { fills: "deliveryId" }] },
      rows: "attempts",
      table: attemptTable,
      remark: (attempts, { asJson, context }) => {
        if (!asJson && attempts.length === 0) context.note("There was no attempt yet.");
      },
      json: "the attempts with the answers' headers and bodies as a JSON list",
      examples: [
        `svc deliveries attempts ${exampleId}`,
        `svc deliveries attempts ${exampleId} --json | jq -r .[0].responseBody`,
      ],
    }),
    try: call(tryNow, {
      ...tryParts,
      says: "send one pending delivery now instead of at its next attempt",
      takes: { "<id>": [idHelp, { fills: "deliveryId" }] },
      examples: [
        `svc deliveries try ${exampleId}`,
        "svc subscriptions try sub_01h455vb4pex5vsknk084sn02q   # all that waits for an endpoint",
      ],
    }),
  },
});

/** Returns the attempts of a delivery as the lines of a table. A row shows the first line of the endpoint's answer. */
export function attemptTable(attempts: readonly DeliveryAttempt[]): string[] {
  const rows = attempts.map(({ number, at, statusCode, error, durationMs, address, responseBody }) => [
    String(number),
    timeText(at),
    statusCode === 0 ? "-" : String(statusCode),
    error || "-",
    String(durationMs),
    address || "-",
    plainText(responseBody.slice(0, 60)) || "-",
  ]);
  return tableLines(["ATTEMPT", "AT", "HTTP", "ERROR", "MS", "ADDRESS", "ANSWER"], rows);
}

/**
 * Returns deliveries as the lines of a table. If some deliveries wait, the table has columns for the reason and for the end of the wait.
 */
export function deliveryTable(deliveries: readonly Delivery[]): string[] {
  const hasWaiting = deliveries.some(({ waitingReason }) => waitingReason !== "");
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.subscriptionId,
    delivery.state,
    String(delivery.attempts),
    timeText(delivery.lastAttemptAt),
    delivery.lastError || "-",
    ...(hasWaiting ? [timeText(delivery.nextAttemptAt), waitText(delivery.waitingReason) || "-"] : []),
  ]);
  const columns = ["ID", "SUBSCRIPTION", "STATE", "ATTEMPTS", "LAST ATTEMPT", "LAST ERROR"];
  return tableLines([...columns, ...(hasWaiting ? ["NEXT ATTEMPT", "WAITS FOR"] : [])], rows);
}

/** Returns in words why a delivery is not sent yet. Returns an empty text if the service gives no reason. */
function waitText(reason: string): string {
  return waits[reason] ?? reason;
}

const waits: Readonly<Record<string, string>> = {
  retry: "its next attempt",
  endpoint_failing: "its failing endpoint",
  turn: "its turn",
  paced: "the pace of its subscription",
  restored: "the store to be resumed (svc resume), because it was restored from a backup",
  inactive: "nothing: its subscription is inactive",
};

function factsOf(delivery: Delivery): readonly (readonly [string, string])[] {
  const { nextAttemptAt } = delivery;
  return [
    ["id", delivery.id],
    ["event", delivery.eventId],
    ["subscription", delivery.subscriptionId],
    ["state", delivery.state],
    ["attempts", String(delivery.attempts)],
    ["last attempt", timeText(delivery.lastAttemptAt)],
    ["last error", delivery.lastError],
    ["why", plainText(delivery.failure?.title ?? "")],
    ["next attempt", nextAttemptAt === undefined ? "" : timeText(nextAttemptAt)],
    ["waits for", waitText(delivery.waitingReason)],
    ["queued", `${timeText(delivery.createdAt)}${delivery.replayed ? " by a replay" : ""}`],
  ];
}
