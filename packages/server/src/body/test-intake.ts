import { systemClock } from "@svc/core";
import { createClientAddresses } from "../listen/client-address.ts";
import { createConnections } from "../listen/connections.ts";
import { type BodyBudgetOptions, bodyBudgetBytes, createBodyBudget } from "./body-budget.ts";
import { createIntake, type Intake } from "./intake.ts";

/** An intake of its own for a handler under test, over as many connections as come. */
export function createTestIntake(budget: Partial<BodyBudgetOptions> = {}): Intake {
  const addresses = createClientAddresses([]);
  return createIntake({
    connections: createConnections({ max: 1_000, perAddressMax: 1_000, addresses }),
    bodies: createBodyBudget({ clock: systemClock, bytesMax: bodyBudgetBytes(1_048_576), ...budget }),
  });
}
