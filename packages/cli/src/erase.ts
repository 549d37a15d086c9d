import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "./client/open-client.ts";
import type { CommandContext } from "./command/context.ts";
import { CommandError } from "./command/error.ts";
import { addExamples } from "./command/examples.ts";
import { addJson, type JsonOption } from "./command/options.ts";
import { confirmErasure, type ErasureOptions, followErasure, printErasure } from "./erase/follow.ts";
import { findProject } from "./projects/find-project.ts";

type EraseOptions = AdminOptions &
  JsonOption &
  ErasureOptions & { project?: string; entity?: string; follow?: string; dryRun?: true };

/** Adds `svc erase`. */
export function addEraseCommand(program: Command, context: CommandContext): void {
  const erase = program
    .command("erase")
    .description("delete everything there is of one entity of a project, as the administrator")
    .option("--project <project>", "id or name of the project")
    .option("--entity <entity>", "the project's own id of the entity")
    .option("--follow <id>", "follow an erasure that was begun before, ers_…, and begin none")
    .option("--dry-run", "count what would be deleted, with ids of some rows, and delete nothing")
    .option("--yes", "do not ask")
    .option("--no-wait", "print the id of the erasure and do not wait for its end")
    .allowExcessArguments()
    .action((options: EraseOptions, { args: [bare] }: Command) => eraseEntity(options, context, bare));
  addAdminOptions(addJson(erase, "the erasure as JSON")).addHelpText(
    "after",
    "\nIt goes on when the command ends, or the service. Nothing brings back what was erased, but a backup of before.",
  );
  addExamples(erase, [
    "svc erase --project billing --entity ada --dry-run",
    "svc erase --project billing --entity ada",
    "svc erase --project billing --entity ada --yes --json",
    "svc erase --follow ers_01h455vb4pex5vsknk084sn02q",
  ]);
}

async function eraseEntity(options: EraseOptions, context: CommandContext, bare: string | undefined): Promise<void> {
  if (bare !== undefined)
    throw new CommandError(`"${bare}" stands behind no option: give --project <project> --entity ${bare}`, 2);
  const { project, entity: entityId, follow, dryRun } = options;
  const client = openAdminClient(options, context);
  if (follow !== undefined) {
    const { erasure } = await client.admin.getErasure({ id: follow });
    return await followErasure(client, erasure, options, context);
  }
  if (project === undefined || entityId === undefined) {
    throw new CommandError("nothing says whom to erase: give --project and --entity, or --follow and an erasure", 2);
  }
  const { id, name } = await findProject(client, project);
  if (dryRun === true) {
    const { erasure } = await client.admin.eraseEntity({ projectId: id, entityId, dryRun });
    return printErasure(erasure, options, context);
  }
  await confirmErasure(`everything of entity "${entityId}" of project "${name}"`, options, context);
  const { erasure } = await client.admin.eraseEntity({ projectId: id, entityId });
  await followErasure(client, erasure, options, context);
}
