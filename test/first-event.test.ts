import { runCommand } from "@svc/cli";
import { createSvcClient, verifyDelivery } from "@svc/sdk";
import { openEnvironment } from "@svc/server/config";
import { openPortal } from "@svc/testing/console-session";
import { type ReceivedRequest, startTestReceiver } from "@svc/testing/receiver";
import { startTestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";

/** Starts svc. Returns its address and key, and a function that runs a command and returns its JSON, or the printed text. */
async function startSvc() {
  const server = await startTestServer();
  onTestFinished(() => server.stop());
  const environment = openEnvironment({ SVC_URL: server.url, SVC_API_KEY: server.key });
  const svc = async (...argv: string[]) => {
    const [lines, notes]: [string[], string[]] = [[], []];
    const print = (line: string) => void lines.push(line);
    const note = (line: string) => void notes.push(line);
    const context = { environment, print, note, style: (_: unknown, text: string) => text };
    const alone = { terminal: undefined, screen: undefined, untilInterrupted: () => new AbortController().signal };
    const code = await runCommand(argv, { ...context, ...alone, readInput: async () => Buffer.alloc(0) });
    expect(code, notes.join("\n")).toBe(0);
    return argv.includes("--json") ? JSON.parse(lines.join("\n")) : lines.join("\n");
  };
  return { server, svc };
}

/** True if a public library and the SDK accept a delivery with the secret. */
async function isVerified({ headers, body }: ReceivedRequest, secret: string): Promise<boolean> {
  try {
    new Webhook(secret).verify(body.toString("utf8"), headers);
    return (await verifyDelivery(headers, body, secret)).type === "event";
  } catch {
    return false;
  }
}

const amountOf = ({ body }: ReceivedRequest) => JSON.parse(body.toString("utf8")).payload.amount;

test("from a fresh start: publish, receive it verified, replace the secret, filter, send a failure again, link a customer", async () => {
  const { server, svc } = await startSvc();
  await using receiver = await startTestReceiver();
  const arrived = async (count: number) => {
    await until(() => receiver.requests.length >= count, `${count} deliveries`);
    return receiver.requests[count - 1] as ReceivedRequest;
  };
  await svc("event-types", "put", "order.made", "--schema", '{"type":"object","required":["amount"]}', "--offered");
  const options = ["--toolkit", "events", "--trigger", "order.made", "--retry", "1s"];
  const made = await svc("subscriptions", "create", receiver.url, ...options, "--json");
  const { id } = made.subscription;

  await svc("publish", "order.made", "--data", '{"amount":12.5}', "--entity", "ada", "--key", "o1");
  const first = await arrived(1);
  expect(await isVerified(first, made.signingSecret)).toBe(true);
  first.body[first.body.length - 2] = 0x20;
  expect(await isVerified(first, made.signingSecret)).toBe(false);
  const client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  const publish = (amount: number, key: string) =>
    client.triggers.publishEvent({ type: "order.made", payloadJson: JSON.stringify({ amount }), entityId: "ada", key });
  await publish(13, "o2");
  expect(await isVerified(await arrived(2), made.signingSecret)).toBe(true);

  const { signingSecret } = await svc("subscriptions", "rotate", id, "--overlap", "1h", "--json");
  await publish(14, "o3");
  const third = await arrived(3);
  expect([await isVerified(third, made.signingSecret), await isVerified(third, signingSecret)]).toEqual([true, true]);

  await svc("subscriptions", "update", id, "--filter", "event.payload.amount > 1000");
  await publish(15, "o4");
  receiver.script({ status: 500 }, { status: 500 }, { status: 200 });
  const { eventId } = await publish(1_500, "o5");
  await until(async () => (await client.triggers.listDeliveries({ eventId })).deliveries[0]?.state === "dead_letter");
  expect(receiver.requests.slice(3).map(amountOf)).toEqual([1_500, 1_500]);
  await svc("replay", "--since", "1d", "--subscription", id, "--only-undelivered");
  expect(amountOf(await arrived(6))).toBe(1_500);
  await until(
    async () =>
      (await client.triggers.listDeliveries({ subscriptionId: id, state: "pending" })).deliveries.length === 0,
  );
  expect(receiver.requests).toHaveLength(6);

  const { url } = await svc("portal", "link", "ada", "--json");
  const portal = await openPortal(server, url);
  const { json } = await portal.call("svc.v1.TriggersService/ListEventTypes");
  expect(json.eventTypes).toMatchObject([{ name: "order.made" }]);
});
