import type { ValueTemplate } from "@svc/program";
import { expect, test } from "vitest";
import { fillCall } from "./arguments.ts";

const scope = { input: {}, params: { long: "x".repeat(100_000) } };
const compute = async () => {
  throw new Error("nothing is computed");
};

/** Returns arguments in which the same long text occurs `times` times. */
function argsOf(times: number): ValueTemplate {
  const reference = { root: "params", path: ["long"], text: "params.long", pointer: "" } as const;
  const item = { kind: "reference", reference, otherwise: undefined } as const;
  return { kind: "object", entries: [["texts", { kind: "list", items: Array.from({ length: times }, () => item) }]] };
}

test("arguments that would be larger than a JSON text can be are a fault of the call", async () => {
  const fill = (times: number) =>
    fillCall({ id: "a", args: argsOf(times), http: undefined }, { scope, stepArgs: {} }, { compute });
  expect(await fill(80)).toHaveProperty("args");
  expect(await fill(100)).toMatchObject({
    fault: {
      code: "invalid_arguments",
      message: "the arguments would hold more than 1,000,000 values, or more than 8,388,608 characters",
    },
  });
});
