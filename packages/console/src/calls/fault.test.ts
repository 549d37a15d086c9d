import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { expect, test } from "vitest";
import { placeFailure } from "./fault.ts";

function failed(message: string, ...details: { field: string; help: string }[]): ConnectError {
  return new ConnectError(
    message,
    Code.InvalidArgument,
    undefined,
    details.map((value) => ({ desc: ErrorDetailSchema, value: { reason: "R", ...value } })),
  );
}

test("what is wrong with a field is said there, and nowhere else", () => {
  const error = failed("there is no step b", { field: "fromStepId", help: "Name one that the job has begun." });
  expect(placeFailure(error, ["fromStepId", "paramsJson"])).toEqual({
    at: { fromStepId: "there is no step b. Name one that the job has begun." },
    rest: null,
  });
});

test("what no field of the page can say is left whole", () => {
  for (const error of [
    failed("the job has ended", { field: "", help: "" }),
    failed("two faults", { field: "paramsJson", help: "An object." }, { field: "id", help: "Its id." }),
    new TypeError("fetch failed"),
  ]) {
    expect(placeFailure(error, ["paramsJson"])).toEqual({ at: {}, rest: error });
  }
  expect(placeFailure(null, ["paramsJson"])).toEqual({ at: {}, rest: null });
});

test("several faults are said at their fields, each by its help", () => {
  const error = failed("2 faults", { field: "a.b", help: "First." }, { field: "c", help: "Second." });
  expect(placeFailure(error, ["a", "c"]).at).toEqual({ a: "First.", c: "Second." });
});
