import type { ToolFailure } from "@svc/sdk";
import { callOutcomes } from "@svc/tools";
import { expect, test } from "vitest";

/** All outcomes of `SvcToolError`. The compiler refuses this record if it lacks one. */
const failures: Readonly<Record<ToolFailure, true>> = {
  held: true,
  invalid_arguments: true,
  no_account: true,
  account_unusable: true,
  missing_scope: true,
  not_callable: true,
  not_bound: true,
  rate_limited: true,
  provider_error: true,
  timeout: true,
  unreachable: true,
  outcome_unknown: true,
};

test("the SDK names every outcome of a call that returns no result", () => {
  const named = Object.keys(failures).toSorted();
  expect(named).toEqual(callOutcomes.filter((outcome) => outcome !== "ok").toSorted());
});
