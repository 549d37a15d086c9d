import type { AuditLog, Deed } from "./log.ts";
import { outcomeOf } from "./outcome.ts";

/**
 * Does what a person does on a page of the service, with no call of the contract, entered in the audit log as a call is: before it is done,
 * with its outcome after it. `outcome` tells of what was done and came to nothing all the same; by default it is `ok`.
 */
export async function asDeed<Result>(
  audit: AuditLog,
  deed: Deed,
  work: () => Promise<Result>,
  outcome: (result: Result) => string = () => "ok",
): Promise<Result> {
  const id = await audit.enter(deed);
  try {
    const result = await work();
    await audit.end(id, { outcome: outcome(result) });
    return result;
  } catch (error) {
    await audit.end(id, { outcome: outcomeOf(error) });
    throw error;
  }
}
