import type { Scenario } from "../record-history.ts";
import { askScenarios } from "./asks.ts";
import { callScenarios } from "./calls.ts";
import { exampleScenarios } from "./examples.ts";
import { limitScenarios } from "./limits.ts";
import { planScenarios } from "./plans.ts";
import { rowScenarios } from "./rows.ts";
import { sagaScenarios } from "./sagas.ts";

/** Every run that is recorded. */
export const scenarios: readonly Scenario[] = [
  ...exampleScenarios,
  ...callScenarios,
  ...rowScenarios,
  ...askScenarios,
  ...sagaScenarios,
  ...limitScenarios,
  ...planScenarios,
];
