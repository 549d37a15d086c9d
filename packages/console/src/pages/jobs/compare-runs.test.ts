import { create } from "@bufbuild/protobuf";
import { JobStepSchema, StepReceiptSchema } from "@svc/gen/jobs";
import { expect, test } from "vitest";
import { alignedSteps, changedTools, lineChanges } from "./compare-runs.ts";

const step = (stepId: string) => create(JobStepSchema, { stepId });
const receipt = (stepId: string, toolVersion: string, errors: { sample: string; failure?: { title: string } }[] = []) =>
  create(StepReceiptSchema, { stepId, toolSlug: `desk.${stepId}`, toolVersion, errors });

test("steps are aligned by id, and those of the other job alone come last", () => {
  const mine = {
    job: {
      stepReceipts: [receipt("say", "1", [{ sample: "the app answered 400", failure: { title: "Desk refused" } }])],
    },
    steps: [step("list"), step("say")],
  };
  const theirs = { job: { stepReceipts: [] }, steps: [step("say"), step("wait")] };
  const pairs = alignedSteps(mine, theirs);
  expect(pairs.map(({ stepId, mine: one, theirs: other }) => [stepId, one?.errors, other?.errors])).toEqual([
    ["list", [], undefined],
    ["say", ["Desk refused"], []],
    ["wait", undefined, []],
  ]);
});

test("a tool in another version is named once", () => {
  const mine = { stepReceipts: [receipt("say", "2"), receipt("say", "2"), receipt("list", "1")] };
  const theirs = { stepReceipts: [receipt("say", "1"), receipt("list", "1")] };
  expect(changedTools(mine, theirs)).toEqual(["desk.say: version 2 here, 1 in the other job"]);
});

test("only the lines in which two programs differ are listed", () => {
  const changes = lineChanges('{"title":"A","steps":[1,2,3]}', '{"title":"B","steps":[1,3]}');
  expect(changes.map(({ sign, line }) => `${sign}${line.trim()}`)).toEqual(['+"title": "A",', '-"title": "B",', "+2,"]);
  expect(lineChanges("{}", "{}")).toEqual([]);
});
