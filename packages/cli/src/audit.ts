import type { Command } from "commander";
import { addAuditList } from "./audit/list.ts";
import { addAuditVerify } from "./audit/verify.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";

/** Adds `svc audit list|verify`. */
export function addAuditCommand(program: Command, context: CommandContext): void {
  const audit = program
    .command("audit")
    .description("list who did what, and check that nothing of it was changed, as the administrator");
  addExamples(audit, ["svc audit", "svc audit verify"]);
  addAuditList(audit, context);
  addAuditVerify(audit, context);
}
