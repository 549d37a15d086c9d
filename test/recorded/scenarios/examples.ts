import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Catalog, loadCatalog } from "@svc/catalog";
import { createSandbox } from "@svc/sandbox";
import { root } from "../../source.ts";
import type { Scenario } from "../record-history.ts";
import { answers, submitProgram } from "./desk.ts";

type Document = Readonly<Record<string, unknown>> & { readonly steps: readonly Record<string, unknown>[] };

/** An example of the docs; `change` makes it small where the docs show that it need not be. */
function example(name: string, change: (program: Document) => Document = (program) => program): Document {
  return change(JSON.parse(readFileSync(join(root, "docs", "examples", `${name}.json`), "utf8")) as Document);
}

let catalog: Promise<Catalog> | undefined;

/** The toolkits of the checkout. */
function checkoutCatalog(): Promise<Catalog> {
  catalog ??= loadCatalog({ folders: [join(root, "toolkits")], deployment: undefined });
  return catalog;
}

/** A scenario whose apps are the sandbox. */
function sandboxScenario(run: Pick<Scenario, "name" | "shows" | "submit"> & Partial<Scenario>): Scenario {
  const credential = { scheme: "api_key", key: "sandbox" };
  const account = (toolkitSlug: string, entityId: string) => ({ toolkitSlug, entityId, credential });
  const entities = ["ops", "sandbox:pages=3", "sandbox:error", "sandbox:cut"];
  return {
    catalog: checkoutCatalog,
    transport: (clock, sealer) => createSandbox({ clock, sealer, callbackUrl: () => "http://127.0.0.1/" }).transport,
    accounts: [...entities.map((entity) => account("sales_crm", entity)), account("messaging_bot", "ops")],
    contacts: [{ principalId: "lead" }, { principalId: "head" }],
    acts: [],
    ...run,
  };
}

const countDeals = example("count-deals", ({ steps: [fetch, ...steps], ...program }) => ({
  ...program,
  steps: [{ ...fetch, entity: "sandbox:pages=3", args: { limit: 20 } }, ...steps],
}));
const howMany = { status: "PARKED", reason: "judgment", stepId: "gate" };

/** The example programs of the docs. */
export const exampleScenarios: readonly Scenario[] = [
  sandboxScenario({
    name: "example-count-deals",
    shows: "docs/examples/count-deals.json, over 3 pages of 20",
    submit: (engine, caller) => submitProgram(engine, caller, countDeals),
  }),
  sandboxScenario({
    name: "example-ask-before-writing",
    shows:
      "docs/examples/ask-before-writing.json: the question climbs, is answered with another value, and then with proceed",
    submit: (engine, caller) => submitProgram(engine, caller, example("ask-before-writing")),
    acts: [
      answers({ ...howMany, hopIndex: 1 }, "retry-with", { principalId: "head", overridesJson: '{"minValue": 80000}' }),
      answers({ ...howMany, hopIndex: 0 }, "proceed", { principalId: "lead" }),
    ],
  }),
  sandboxScenario({
    name: "example-undo-on-failure",
    shows: "docs/examples/undo-on-failure.json",
    submit: (engine, caller) => submitProgram(engine, caller, example("undo-on-failure")),
  }),
  sandboxScenario({
    name: "example-approve-deletion",
    shows: "docs/examples/approve-deletion.json, simulated first",
    submit: (engine, caller) => submitProgram(engine, caller, example("approve-deletion"), { simulateFirst: true }),
    acts: [answers({ status: "PENDING_PLAN_APPROVAL" }, "proceed")],
  }),
  sandboxScenario({
    name: "example-announce-skill",
    shows: "docs/examples/announce-skill.json",
    submit: (engine, caller) => submitProgram(engine, caller, example("announce-skill")),
  }),
];
