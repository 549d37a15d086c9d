import { expect, test } from "vitest";
import { configOfProcess, loadConfig } from "../config/config.ts";
import { openEnvironment } from "../config/environment.ts";
import { nodePartsOf } from "./node-parts.ts";

const places = { workingDir: "/work", checkout: "/src/svc", isRoot: false };
const partsOf = (variables: Record<string, string>) => nodePartsOf(loadConfig(openEnvironment(variables), places));

test("acceptance 25: held, a node starts every engine but that of standing programs", () => {
  expect(partsOf({}).engines).toEqual(["deliveries", "jobs", "standing", "renewal", "sources", "retention"]);
  expect(partsOf({ SVC_STANDING: "hold" }).engines).toEqual(["deliveries", "jobs", "renewal", "sources", "retention"]);
});

test("sources of toolkits are read again at the configured interval, or never", () => {
  expect(partsOf({}).limits.mcpSourcesEveryMs).toBe(6 * 3_600_000);
  expect(partsOf({ SVC_TOOLKIT_REFRESH: "PT1H" }).limits.mcpSourcesEveryMs).toBe(3_600_000);
  expect(partsOf({ SVC_TOOLKIT_REFRESH: "off" }).engines).toEqual([
    ...["deliveries", "jobs", "standing", "renewal", "retention"],
  ]);
  expect(() => partsOf({ SVC_TOOLKIT_REFRESH: "PT1S" })).toThrow(/SVC_TOOLKIT_REFRESH/);
});

test("the bounds of standing programs are the configuration's", () => {
  const { limits } = partsOf({ SVC_STANDING_RUNS: "7", SVC_STANDING_MAX: "9", SVC_STANDING_RUN_RETENTION: "P2D" });
  expect(limits.standing).toEqual({ projectRunsMax: 7, programsMax: 9 });
  expect(limits.retention.standingRunsMs).toBe(2 * 86_400_000);
});

test("with roles, every second process runs what the others leave, and a node with a role of its own has none", () => {
  const several = { SVC_PROCESSES: "3", SVC_SANDBOX: "off", SVC_PROCESS_ROLES: "on" };
  const rolesOf = (variables: Record<string, string>) => {
    const config = loadConfig(openEnvironment(variables), places);
    return [1, 2, 3].map((number) => {
      const own = configOfProcess(config, number);
      return [own.processRole, nodePartsOf(own).engines?.length];
    });
  };
  expect(rolesOf(several)).toEqual([
    ["requests", 2],
    ["rows", 6],
    ["requests", 2],
  ]);
  const alike = [1, 2, 3].map(() => ["all", 6]);
  expect(rolesOf({ ...several, SVC_PROCESS_ROLES: "off" })).toEqual(alike);
  expect(rolesOf({ SVC_PROCESS_ROLES: "on" })).toEqual(alike);
});
