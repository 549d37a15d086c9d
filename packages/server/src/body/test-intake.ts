import { systemClock } from "@svc/core";
import { createClientAddresses } from "../listen/client-address.ts";
import { createConnections } from "../listen/connections.ts";
import { type BodyBudgetOptions, bodyBudgetBytes, createBodyBudget } from "./body-budget.ts";
import { createIntake, type Intake } from "./intake.ts";

/** Creates the part of the server that admits connections and bodies, for a handler under test. Connections are practically unlimited. */
export function createTestIntake(budget: Partial<BodyBudgetOptions> = {}): Intake {
  const addresses = createClientAddresses([]);
  return createIntake({
    connections: createConnections({ max: 1_000, perAddressMax: 1_000, addresses }),
    bodies: createBodyBudget({ clock: systemClock, bytesMax: bodyBudgetBytes(1_048_576), ...budget }),
  });
}
