import { isoTime, parseExactJson, requireText, systemClock } from "@svc/core";
import { DeliveryVerificationError, type SvcClient, type VerifiedDelivery, verifyDelivery } from "@svc/sdk";
import { InvalidArgumentError } from "commander";
import { collectPages, type ProjectOptions, serverUrl } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError, failureText } from "../../command/error.ts";
import type { JsonOption } from "../../command/options.ts";
import { countText } from "../../text/table.ts";
import { type ForwardAnswer, forwardDelivery } from "./forward.ts";
import { isLeftover, type ReceivedRequest, type ReceiverAnswer, startReceiver } from "./receiver.ts";

type ListenOptions = ProjectOptions & JsonOption & { forward?: string; toolkit?: string; trigger?: string };

/** The command `svc listen`, which prints the project's events as they arrive and forwards them to an address of the user. */
export const addListenCommand = command(
  undefined,
  {
    says: "print the project's events as they arrive, and forward them to an address of yours",
    options: [
      [
        "--forward <url>",
        "send every delivery on to this address, with its headers; svc receives the status of its answer",
        { parse: parseUrl },
      ],
      ["--toolkit <slug>", "only events of this toolkit (default: all)"],
      ["--trigger <slug>", "only events of this trigger, such as calendar.events_changed (default: all)"],
    ],
    json: "each delivery as JSON, one per line",
    more: "\nThe service must run on this machine. A temporary subscription exists until Ctrl-C. The service retries a delivery if the\nforwarding fails, as for any endpoint.",
    examples: [
      "svc listen",
      "svc listen --forward http://localhost:3000/hook",
      "svc listen --forward http://localhost:3000/hook --toolkit calendar --trigger events_changed",
    ],
  },
  async ({ values: options, context, project }: Run<ListenOptions>) => {
    const url = serverUrl(options, context);
    if (!isLoopbackUrl(url)) {
      throw new CommandError(
        `listen needs a service on this machine: ${url} could not reach a receiver on this machine`,
      );
    }
    const client = await project();
    const interrupted = context.untilInterrupted();
    const secret = Promise.withResolvers<string>();
    let count = 0;
    await removeLeftovers(client, context);
    const receiver = await startReceiver(async (request) => {
      count += 1;
      return receive(request, await secret.promise, options, context);
    });
    try {
      const { subscription, signingSecret } = await subscribe(client, receiver.url, options);
      secret.resolve(signingSecret);
      context.note(readyText(url, subscription?.id ?? "", options));
      await aborted(interrupted);
      await unsubscribe(client, subscription?.id ?? "");
    } finally {
      await receiver.close();
    }
    context.note(`Stopped after ${countText(count, "delivery attempt")}; the subscription was removed.`);
  },
);

/**
 * Deletes subscriptions of earlier runs of this command. A run that was killed could not delete its subscription, and svc would retry the
 * subscription's deliveries for days.
 */
async function removeLeftovers({ triggers }: SvcClient, context: CommandContext): Promise<void> {
  const subscriptions = await collectPages(async (pageToken) => {
    const { subscriptions: items, nextPageToken } = await triggers.listSubscriptions({ pageToken });
    return { items, nextPageToken };
  });
  for (const { id, endpointUrl } of subscriptions) {
    if (!(await isLeftover(endpointUrl))) continue;
    await triggers.deleteSubscription({ id });
    context.note(`Removed ${id}, which an earlier \`svc listen\` left behind.`);
  }
}

function subscribe({ triggers }: SvcClient, endpointUrl: string, { toolkit = "", trigger = "" }: ListenOptions) {
  // A slug such as `calendar.events_changed` contains the slug of its toolkit.
  const toolkitSlug = toolkit === "" && trigger.includes(".") ? trigger.slice(0, trigger.indexOf(".")) : toolkit;
  return triggers.createSubscription({ endpointUrl, toolkitSlug, triggerSlug: trigger });
}

async function unsubscribe({ triggers }: SvcClient, id: string): Promise<void> {
  try {
    await triggers.deleteSubscription({ id });
  } catch (err) {
    throw new CommandError(`the temporary subscription ${id} could not be removed: ${failureText(err)}`);
  }
}

/** Verifies a delivery, forwards it and prints it. Returns the answer that svc receives. */
async function receive(
  { headers, body }: ReceivedRequest,
  secret: string,
  { forward, json }: ListenOptions,
  context: CommandContext,
): Promise<ReceiverAnswer> {
  try {
    const delivery = await verifyDelivery(headers, body, secret);
    const startedMs = systemClock.now();
    const answer = forward === undefined ? undefined : await forwardDelivery(forward, headers, body);
    const line = json ? deliveryJson : deliveryLine;
    context.print(line(delivery, body, { answer, startedMs }, context));
    return answer ?? { status: 204 };
  } catch (err) {
    if (!(err instanceof DeliveryVerificationError)) throw err;
    context.note(`Refused a post that svc did not sign: ${err.message}.`);
    return { status: 401 };
  }
}

/**
 * A received delivery. `startedMs`: its arrival in epoch milliseconds. `answer`: the answer of the address to which it was forwarded;
 * undefined if it was not forwarded.
 */
type ReceivedDelivery = { readonly answer: ForwardAnswer | undefined; readonly startedMs: number };

function deliveryJson(verified: VerifiedDelivery, body: Buffer, { answer, startedMs }: ReceivedDelivery): string {
  // Keeps the payload as received, with all digits of its numbers. Ordinary parsing would lose digits of numbers above 2^53 - 1.
  const { payload } = parseExactJson(requireText(body)) as { payload?: unknown };
  const delivery = { ...verified, ...(payload !== undefined && { payload }) };
  const { status, fault } = answer ?? {};
  const forward = answer && { status, fault, tookMs: systemClock.now() - startedMs };
  return JSON.stringify({ at: isoTime(startedMs), delivery, ...(forward && { forward }) });
}

function deliveryLine(
  delivery: VerifiedDelivery,
  body: Buffer,
  { answer, startedMs }: ReceivedDelivery,
  { style }: CommandContext,
): string {
  const trigger = delivery.type === "event" ? delivery.triggerSlug : delivery.type;
  const entity = ("entityId" in delivery && delivery.entityId) || "-";
  const time = isoTime(startedMs).slice(11, 23);
  const line = `${style("dim", time)} ${style("bold", trigger)} ${delivery.id} entity=${entity} ${body.length} B`;
  if (answer === undefined) return line;
  const isTaken = answer.status >= 200 && answer.status < 300;
  const result = answer.fault === "" ? String(answer.status) : `failed: ${answer.fault}`;
  return `${line} -> ${style(isTaken ? "green" : "red", result)} in ${systemClock.now() - startedMs} ms`;
}

function readyText(url: string, subscriptionId: string, { forward, toolkit, trigger }: ListenOptions): string {
  const what = trigger ?? (toolkit === undefined ? "all events" : `events of ${toolkit}`);
  const where = forward === undefined ? "" : `, forwarding to ${forward}`;
  return `Listening at ${url} for ${what} (${subscriptionId})${where}. Ctrl-C stops.`;
}

/**
 * True if the URL leads to this machine. The check uses the parsed host, because the parser completes short forms (127.1 becomes
 * 127.0.0.1).
 */
function isLoopbackUrl(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function parseUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text;
  throw new InvalidArgumentError("expected an http or https URL, such as http://localhost:3000/hook");
}
