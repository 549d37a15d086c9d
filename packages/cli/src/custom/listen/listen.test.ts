import { createHmac } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { Fault, generateSigningSecret, systemClock } from "@svc/core";
import { type CreateSubscriptionRequest, TriggersService } from "@svc/gen/triggers";
import { type HttpPlace, serveHttp, serveRoutes } from "@svc/testing/http";
import { afterEach, expect, test } from "vitest";
import { runTestCommand, startCommand, type TestCommand } from "../../test-command.ts";

const event = {
  id: "evt_1",
  type: "event",
  toolkitSlug: "calendar",
  triggerSlug: "calendar.events_changed",
  entityId: "team",
  occurredAt: "2026-01-02T03:04:05.000Z",
  receivedAt: "2026-01-02T03:04:05.000Z",
  payload: { message_number: 1 },
};
const body = JSON.stringify(event);

const open: (HttpPlace | TestCommand)[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) {
    if ("interrupt" in part) {
      part.interrupt();
      await part.exitCode;
    } else await part[Symbol.asyncDispose]();
  }
});

/** Starts a server that stores the subscriptions it receives. It sends no deliveries; a test sends them itself. */
async function startServer(leftovers: { id: string; endpointUrl: string }[] = []) {
  const secret = generateSigningSecret();
  const subscribed: CreateSubscriptionRequest[] = [];
  const removed: string[] = [];
  const server = await serveRoutes((router) =>
    router.service(TriggersService, {
      createSubscription: (request) => {
        if (request.toolkitSlug === "nope") {
          throw new Fault("not_found", "there is no toolkit nope", [{ reason: "TOOLKIT_NOT_FOUND" }]);
        }
        subscribed.push(request);
        return { subscription: { id: "sub_1" }, signingSecret: secret };
      },
      listSubscriptions: () => ({ subscriptions: leftovers }),
      deleteSubscription: ({ id }) => {
        removed.push(id);
        return {};
      },
    }),
  );
  open.push(server);
  const deliver = (text = body, key = secret) =>
    fetch(subscribed[0]?.endpointUrl ?? "", { method: "POST", headers: signed(text, key), body: text });
  return { server, subscribed, removed, deliver };
}

function signed(text: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(systemClock.now() / 1000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return {
    "content-type": "application/json",
    "x-svc-signature": `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`,
    "x-svc-delivery-id": "dlv_1",
    "webhook-id": "dlv_1",
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${createHmac("sha256", key).update(`dlv_1.${timestamp}.${text}`).digest("base64")}`,
  };
}

/** Starts `svc listen`, and waits until it has subscribed to events. */
async function startListening(url: string, ...options: string[]): Promise<TestCommand> {
  const command = startCommand(["listen", ...options], { SVC_URL: url, SVC_API_KEY: "key" });
  open.push(command);
  await command.line(/^Listening/);
  return command;
}

type Forwarded = { headers: NodeJS.Dict<string | string[]>; body: string };

/** Starts a server to which deliveries are forwarded. It answers with the status `status` when the promise `released` resolves. */
async function startTarget(status: number, released: Promise<void> = Promise.resolve()) {
  const forwarded: Forwarded[] = [];
  const arrived = Promise.withResolvers<void>();
  const server = await serveHttp(async (req, res) => {
    forwarded.push({ headers: req.headers, body: (await buffer(req)).toString() });
    arrived.resolve();
    await released;
    res.writeHead(status, { "retry-after": "7" }).end("answer");
  });
  open.push(server);
  return { url: `${server.url}/hook`, forwarded, arrived: arrived.promise };
}

test("without --forward an event is printed in one line and answered 204", async () => {
  const { server, subscribed, deliver } = await startServer();
  const command = await startListening(server.url, "--trigger", "calendar.events_changed");
  expect(subscribed).toMatchObject([{ toolkitSlug: "calendar", triggerSlug: "calendar.events_changed" }]);
  expect((await deliver()).status).toBe(204);
  const time = expect.stringMatching(
    new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3} calendar\\.events_changed evt_1 entity=team ${body.length} B$`),
  );
  expect(command.printed).toEqual([time]);
});

test("a test delivery is printed as one", async () => {
  const { server, deliver } = await startServer();
  const command = await startListening(server.url);
  await deliver(
    JSON.stringify({ ...event, type: "test", triggerSlug: "", toolkitSlug: "", entityId: "", payload: {} }),
  );
  expect(command.printed).toEqual([expect.stringMatching(/ test evt_1 entity=- \d+ B$/)]);
});

test("a delivery is forwarded byte for byte with its headers, and svc hears the forward's answer", async () => {
  const { server, deliver } = await startServer();
  const target = await startTarget(503);
  const command = await startListening(server.url, "--forward", target.url);
  const answer = await deliver();
  expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([503, "7", "answer"]);
  expect(target.forwarded).toMatchObject([
    { body, headers: { "x-svc-delivery-id": "dlv_1", "content-type": "application/json", "webhook-id": "dlv_1" } },
  ]);
  expect(command.printed).toEqual([expect.stringMatching(/ B -> 503 in \d+ ms$/)]);
});

test("an address that cannot be reached is answered 502 and printed", async () => {
  const { server, deliver } = await startServer();
  const command = await startListening(server.url, "--forward", "http://127.0.0.1:2/hook");
  expect((await deliver()).status).toBe(502);
  expect(command.printed).toEqual([expect.stringMatching(/ -> failed: ECONNREFUSED in \d+ ms$/)]);
});

test("a post that svc did not sign is refused and goes nowhere", async () => {
  const { server, deliver } = await startServer();
  const target = await startTarget(200);
  const command = await startListening(server.url, "--forward", target.url);
  expect((await deliver(body, generateSigningSecret())).status).toBe(401);
  expect([command.printed, target.forwarded]).toEqual([[], []]);
  expect(command.noted.at(-1)).toMatch(/^Refused a post that svc did not sign: /);
});

test("an interrupt removes the subscription and ends with 0", async () => {
  const { server, removed, deliver } = await startServer();
  const command = await startListening(server.url);
  await deliver();
  command.interrupt();
  expect(await command.exitCode).toBe(0);
  expect(removed).toEqual(["sub_1"]);
  expect(command.noted.at(-1)).toBe("Stopped after 1 delivery attempt; the subscription was removed.");
});

test("a subscription that an earlier run left behind is removed, and no other", async () => {
  const alive = await startTarget(200);
  const at = (id: string, url: string) => ({ id, endpointUrl: url });
  const { server, removed } = await startServer([
    at("sub_gone", "http://127.0.0.1:2/svc-listen/0123"),
    at("sub_live", alive.url.replace("/hook", "/svc-listen/4567")),
    at("sub_own", "http://127.0.0.1:2/hook"),
    at("sub_far", "http://example.com:2/svc-listen/0123"),
  ]);
  const command = await startListening(server.url);
  expect(removed).toEqual(["sub_gone"]);
  expect(command.noted[0]).toBe("Removed sub_gone, which an earlier `svc listen` left behind.");
});

test("an interrupt while a forward is in flight removes the subscription at once and still answers svc", async () => {
  const { server, removed, deliver } = await startServer();
  const released = Promise.withResolvers<void>();
  const target = await startTarget(200, released.promise);
  const command = await startListening(server.url, "--forward", target.url);
  const delivery = deliver();
  await target.arrived;
  command.interrupt();
  await expect.poll(() => removed).toEqual(["sub_1"]);
  released.resolve();
  expect((await delivery).status).toBe(200);
  expect(await command.exitCode).toBe(0);
});

test("a subscription that cannot be removed is named, and the command ends with 1", async () => {
  const { server } = await startServer();
  const command = await startListening(server.url);
  await server[Symbol.asyncDispose]();
  open.splice(open.indexOf(server), 1);
  command.interrupt();
  expect(await command.exitCode).toBe(1);
  expect(command.noted.at(-1)).toMatch(/^svc: the temporary subscription sub_1 could not be removed: cannot reach /);
});

test.each([
  ["a service that is away", "http://127.0.0.1:2", [], /^svc: cannot reach http:\/\/127\.0\.0\.1:2/],
  ["a service elsewhere", "https://svc.example.com", [], /^svc: listen needs a service on this machine/],
])("%s is told at once", async (_, url, options, text) => {
  const { code, noted } = await runTestCommand(["listen", ...options], { SVC_URL: url, SVC_API_KEY: "key" });
  expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringMatching(text)] });
});

test("a refused subscription ends the command with the reason", async () => {
  const { server } = await startServer();
  const variables = { SVC_URL: server.url, SVC_API_KEY: "key" };
  expect(await runTestCommand(["listen", "--toolkit", "nope"], variables)).toMatchObject({
    code: 1,
    noted: ["svc: there is no toolkit nope (TOOLKIT_NOT_FOUND)."],
  });
});
