import { expect, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { openEnvironment } from "../config/environment.ts";
import { nodePartsOf } from "./node-parts.ts";

const places = { workingDir: "/work", checkout: "/src/svc", isRoot: false };
const partsOf = (variables: Record<string, string>) => nodePartsOf(loadConfig(openEnvironment(variables), places));

test("acceptance 25: held, a node starts every engine but that of standing programs", () => {
  expect(partsOf({}).engines).toBeUndefined();
  expect(partsOf({ SVC_STANDING: "hold" }).engines).toEqual(["deliveries", "jobs", "renewal", "retention"]);
});

test("the bounds of standing programs are the configuration's", () => {
  const { limits } = partsOf({ SVC_STANDING_RUNS: "7", SVC_STANDING_MAX: "9", SVC_STANDING_RUN_RETENTION: "P2D" });
  expect(limits.standing).toEqual({ projectRunsMax: 7, programsMax: 9 });
  expect(limits.retention.standingRunsMs).toBe(2 * 86_400_000);
});
