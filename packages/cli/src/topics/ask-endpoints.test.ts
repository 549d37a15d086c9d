import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
let receiver: TestReceiver;

beforeAll(async () => {
  receiver = await startTestReceiver();
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  await svc(["contacts", "put", "lead", "--name", "Ada"]);
});
afterAll(async () => {
  await server.stop();
  await receiver[Symbol.asyncDispose]();
});

function svc(argv: readonly string[], input?: string) {
  return runTestCommand(argv, { SVC_URL: server.url, SVC_API_KEY: server.key }, input);
}

const asking = JSON.stringify({
  version: 1,
  title: "Ask",
  steps: [{ id: "gate", judge: "sure" }],
  points: {
    sure: {
      question: "Go on?",
      continuations: ["proceed", "abort"],
      escalation: [{ principal: "lead", timeout: "1h" }],
    },
  },
  result: {},
});

test("an ask endpoint is made with its secret, is sent each question, and is deleted", async () => {
  const { code, printed, noted } = await svc(["ask-endpoints", "create", receiver.url]);
  expect({ code, noted }).toEqual({ code: 0, noted: ["Keep the secret: it is not shown again."] });
  expect(printed).toEqual([
    expect.stringMatching(/^ask endpoint {4}aep_\w{26}$/),
    expect.stringMatching(/^signing secret {2}whsec_\S+$/),
  ]);
  const [id = ""] = /aep_\w+/.exec(printed[0] ?? "") ?? [];
  expect((await svc(["ask-endpoints"])).printed).toEqual([
    expect.stringMatching(/^ID +STATE +CREATED +ENDPOINT +TELLS$/),
    expect.stringMatching(new RegExp(`^${id} +active +\\S+Z +${receiver.url} +ask_raised$`)),
  ]);

  const submitted = await svc(["jobs", "submit", "-"], asking);
  expect(submitted.code).toBe(0);
  await until(() => receiver.requests.length > 0);
  const [{ headers, body } = { headers: {}, body: "" }] = receiver.requests;
  expect(JSON.parse(body.toString())).toMatchObject({ type: "ask_raised", jobId: submitted.printed[0] });
  const deliveryId = (headers as Record<string, string>)["x-svc-delivery-id"] ?? "";
  await until(async () => (await svc(["deliveries", "attempts", deliveryId])).printed.length > 1);
  expect((await svc(["deliveries", "attempts", deliveryId])).printed[1]).toMatch(/^1 +\S+Z +200 /);

  expect(await svc(["ask-endpoints", "delete", id])).toMatchObject({ code: 0, printed: [`${id} is deleted`] });
  expect((await svc(["ask-endpoints", "list"])).printed).toHaveLength(1);
  const again = await svc(["ask-endpoints", "delete", id]);
  expect(again).toMatchObject({ code: 1, noted: [expect.stringContaining("ASK_ENDPOINT_NOT_FOUND")] });
  const told = ["--event-type", "standing_paused", "standing_missed"];
  expect(await svc(["ask-endpoints", "create", receiver.url, ...told])).toMatchObject({ code: 0 });
  expect((await svc(["ask-endpoints"])).printed[1]).toMatch(/ standing_paused, standing_missed$/);
  expect((await svc(["ask-endpoints", "create", receiver.url, "--event-type", "all"])).noted.join()).toContain(
    "EVENT_TYPE_UNKNOWN",
  );
});

test("an endpoint that is no URL is refused with its reason", async () => {
  const { code, printed, noted } = await svc(["ask-endpoints", "create", "hooks"]);
  expect({ code, printed }).toEqual({ code: 1, printed: [] });
  expect(noted).toEqual([expect.stringMatching(/^svc: the endpoint's URL "hooks" .*ENDPOINT_URL_/)]);
});
