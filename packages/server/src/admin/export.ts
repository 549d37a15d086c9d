import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { createAtOnce, isEntityId, isoTime, requireId, SealError, type Sealer, type Turns } from "@svc/core";
import type { ExportedRow } from "@svc/db/entity-export/page";
import { exportEntity } from "@svc/db/entity-export/walk";
import { findProject } from "@svc/db/projects/repo";
import { leftOutOfExports } from "@svc/db/schema/exported-columns";
import { type ExportEntityRequest, type ExportEntityResponse, ExportEntityResponseSchema } from "@svc/gen/admin";
import type { AdminContext, ExportPages } from "./context.ts";
import { adminFaults } from "./errors.ts";

/** The form of the lines: another one gets another number. */
const formVersion = 1;
/** Of the lines of a message, beyond which another one begins. */
const messageCharactersMax = 131_072;

/** Pages of exports that are read at once, whatever projects they are of. */
const pagesAtOnce = 2;

/** Makes the reading of pages for a node: exports take turns page by page, so that one whose caller is slow keeps none of the others waiting. */
export function createExportPages(turns: Pick<Turns, "next">): ExportPages {
  const atOnce = createAtOnce(pagesAtOnce);
  return (projectId, read) =>
    atOnce.run(projectId, async () => {
      await turns.next("administrator");
      return read();
    });
}

/**
 * Streams what the deployment holds of an entity as lines of JSON: first what follows, then a row a line, and at the end how many there were, by
 * table. Reads on only as fast as the caller takes what was read, and as other exports and calls leave time.
 */
export async function* exportLines(
  { db, clock, sealer, exportPages }: Pick<AdminContext, "db" | "clock" | "sealer" | "exportPages">,
  request: ExportEntityRequest,
  { signal }: HandlerContext,
): AsyncGenerator<ExportEntityResponse> {
  const projectId = requireId("prj", "projectId", request.projectId);
  const { entityId } = request;
  if (!isEntityId(entityId)) throw adminFaults.ENTITY_ID_INVALID(entityId);
  if ((await findProject(db, projectId)) === undefined) throw adminFaults.PROJECT_NOT_FOUND(projectId);
  await sealer.ready([projectId]);
  const counts: Record<string, number> = {};
  const at = isoTime(clock.now());
  const head = { version: formVersion, projectId, entityId, at, leftOut: leftOutOfExports() };
  yield message([JSON.stringify({ export: head })]);
  const pages = exportEntity(db, { projectId, entityId });
  try {
    for (;;) {
      const { done, value: page } = await exportPages(projectId, () => pages.next());
      if (done === true) break;
      yield* messagesOf(sealer, page, signal);
      counts[page.table] = (counts[page.table] ?? 0) + page.rows.length;
    }
  } finally {
    await pages.return(undefined);
  }
  yield message([JSON.stringify({ end: { counts } })]);
}

function* messagesOf(
  sealer: Sealer,
  { table, rows }: { readonly table: string; readonly rows: readonly ExportedRow[] },
  signal: AbortSignal,
): Generator<ExportEntityResponse> {
  let lines: string[] = [];
  let characters = 0;
  for (const row of rows) {
    signal.throwIfAborted();
    const line = rowLine(sealer, table, row);
    lines.push(line);
    characters += line.length;
    if (characters < messageCharactersMax) continue;
    yield message(lines);
    [lines, characters] = [[], 0];
  }
  if (lines.length > 0) yield message(lines);
}

function message(lines: string[]): ExportEntityResponse {
  return create(ExportEntityResponseSchema, { lines });
}

/** A row with what was sealed in it opened. What does not open, as after a vault key was lost, is named. */
function rowLine(sealer: Sealer, table: string, { values, sealed }: ExportedRow): string {
  const opened: Record<string, string> = {};
  const unreadable: string[] = [];
  for (const { column, sealed: value, context } of sealed) {
    const text = open(sealer, value, context);
    if (text === undefined) unreadable.push(column);
    else opened[column] = text;
  }
  return JSON.stringify({ table, row: { ...values, ...opened }, ...(unreadable.length > 0 && { unreadable }) });
}

function open(sealer: Sealer, sealed: Buffer, context: string): string | undefined {
  // A call that is under way has none yet.
  if (sealed.byteLength === 0) return "";
  try {
    return sealer.open(sealed, context).toString("utf8");
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
