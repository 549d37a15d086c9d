import { createId } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { testSealer } from "@svc/testing/node";
import { afterAll, expect, test } from "vitest";
import type { NetworkTransport } from "../network-transport.ts";
import { discoverOauth } from "./discover.ts";

const database = await createTestDatabase();
afterAll(() => database.drop());

test("all requests of a discovery share 30 s", async () => {
  const times: number[] = [];
  const exchange: NetworkTransport["exchange"] = async (_request, _party, { timeoutMs }) => {
    times.push(timeoutMs);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { kind: "answer", status: 404, headers: {}, body: Buffer.alloc(0) };
  };
  const parts = { db: database.db, sealer: testSealer, clock: createTestClock() };
  const options = { network: { exchange }, publicUrl: () => "https://svc.example.com", ...parts };
  const server = { url: "https://mcp.example.com/mcp", challenge: "", projectId: createId("prj", 1), slug: "" };
  expect(await discoverOauth(options, server, { known: undefined, isTrial: false })).toMatchObject({
    kind: "unusable",
  });
  const [first = 0, second = 0] = times;
  expect(first).toBeLessThanOrEqual(30_000);
  expect(second).toBeLessThan(first - 40);
});
