import { create } from "@bufbuild/protobuf";
import { JobSchema } from "@svc/gen/jobs";
import { expect, test } from "vitest";
import { figuresOf } from "./figures.ts";

const estimate = { callsMin: 1, callsMax: 500, writesMax: 10, rowsMax: 10_000 };
const programJson = '{"limits":{"toolCalls":300,"deadline":"2h"}}';

test("while a job runs it tells what its steps used so far, beside the estimate and its limits", () => {
  const job = create(JobSchema, {
    ...{ programJson, estimate },
    stepReceipts: [{ calls: { read: 3, write: 2 } }, { calls: { destructive: 1 } }],
  });
  const [calls, writes, destructive] = figuresOf(job, undefined);
  expect(calls).toMatchObject({ estimated: "1 to 500", actual: "6", limit: "300" });
  expect(writes).toMatchObject({ estimated: "10", actual: "3", limit: "1,000" });
  expect(destructive).toMatchObject({ actual: "1" });
});

test("once it has ended its receipt tells, and what it was simulated with stands between", () => {
  const receipt = (calls: number) => ({
    actual: { calls, rows: 3 },
    limits: { used: { deadlineSeconds: 61 }, max: { toolCalls: 300, deadlineSeconds: 7_200 } },
  });
  const job = create(JobSchema, { programJson, estimate, receipt: receipt(80) });
  const simulation = create(JobSchema, { receipt: receipt(79) });
  const figures = figuresOf(job, simulation);
  expect(figures[0]).toMatchObject({ simulated: "79", actual: "80", limit: "300" });
  expect(figures.at(-1)).toMatchObject({ name: "Time", actual: "1 min 1 s", limit: "2 h" });
});
