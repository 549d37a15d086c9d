import { TriggersService } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { createLogger } from "../logger.ts";
import { completeError } from "./complete-error.ts";

test("a fault of the protocol layer is answered without its text, which is logged once", async () => {
  const logs: string[] = [];
  const logger = await createLogger({ level: "info", destination: { write: (line) => void logs.push(line) } });
  const method = TriggersService.method.listEvents;
  const call = { method, requestId: "req_9", body: { bytes: undefined, bytesMax: 1_000, letGo: () => {} }, logger };
  const { json } = completeError({ code: "internal", message: "serialize binary: secret text" }, call);
  expect(JSON.stringify(json)).toContain("INTERNAL");
  expect(JSON.stringify(json)).not.toContain("secret text");
  expect(logs.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: "error",
      requestId: "req_9",
      method: "svc.v1.TriggersService/ListEvents",
      message: "serialize binary: secret text",
    }),
  ]);
  completeError({ ...json, code: "internal" }, call);
  expect(logs).toHaveLength(1);
});
