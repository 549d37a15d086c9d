import type { EventId, ProjectId, ProjectPrincipal, Work } from "@svc/core";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { eventsForProject } from "@svc/db/events/repo";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { ProgramNote } from "@svc/program";
import type { StandingContext } from "../context.ts";
import { eventOf, occurrenceOfEvent } from "../decide/event.ts";
import { checkDefinition } from "../definition/check.ts";
import type { Definition } from "../definition/definition.ts";
import { testWhen } from "../prepare/when.ts";
import { fireTimeOf, nextOfSource } from "../schedule/due.ts";
import type { LoadedVersion } from "../versions.ts";

/**
 * A request to preview what a schedule's definition would do. The definition is a new one, the current one of an existing program, or the
 * next version of an existing program.
 */
export type PreviewRequest = {
  readonly program: StandingProgramRecord | undefined;
  readonly definitionJson: string;
  readonly count: number;
};

/** Result of a preview: when the definition would start runs, and an estimate of what one run can do. */
export type Preview = {
  readonly times: readonly { readonly atMs: number; readonly effectiveMs: number }[];
  readonly timeZone: string;
  readonly estimate: EstimateDocument;
  readonly needsApproval: boolean;
  /**
   * Number of the trigger's latest events that were tested with the previewed definition. `matched`: number of these events that would have
   * started a run.
   */
  readonly seen: number;
  readonly matched: number;
  /** Number of the scanned events that are not about the entity (customer or user) that the schedule's definition names. */
  readonly passedOver: number;
  /**
   * Notes for the author about the previewed definition. Empty if a stored program is previewed, because notes are made only when a
   * definition is written.
   */
  readonly notes: readonly ProgramNote[];
};

/** Returns when a definition would start next, and what a run can do. Throws the same errors as the call CreateStandingProgram. */
export async function preview(
  context: StandingContext,
  { projectId, role, binding: own }: ProjectPrincipal,
  { program, definitionJson, count }: PreviewRequest,
): Promise<Preview> {
  const { clock, versions, db, meter } = context;
  const nowMs = clock.now();
  const work = meter.begin({ projectId });
  if (program !== undefined && definitionJson === "") {
    const name = { programId: program.id, projectId, version: program.version };
    const { definition, record, program: plan } = (await versions.get(db, [name]))(name);
    const times = await timesOf(definition, program, { fromMs: program.nextAt ?? nowMs + 1, count, work });
    const events = await matchEvents(context, projectId, { definition, program: plan });
    const { estimate, needsApproval } = record;
    return { times, timeZone: definition.timeZone, estimate, needsApproval, ...events, notes: [] };
  }
  const binding = program === undefined ? (own ?? null) : program.binding;
  const checked = await checkDefinition(context, { projectId, role, binding, definitionJson, nowMs });
  if ("refusal" in checked) throw checked.refusal;
  const { definition, start, notes } = checked;
  const times = await timesOf(definition, program, { fromMs: nowMs + 1, count, work });
  const events = await matchEvents(context, projectId, { definition, program: start.program });
  const { estimate, needsApproval } = start;
  return { times, timeZone: definition.timeZone, estimate, needsApproval, ...events, notes };
}

const eventsMax = 1_000;
const pageSize = 50;
/**
 * Limits of the preview that counts how many past events match a definition. `bytes`: size of the scanned events. `ms`: duration in
 * milliseconds.
 */
const bounds = { bytes: 33_554_432, ms: 2_000 };

/** Returns how many of the trigger's last events would have started a run of the previewed definition. */
async function matchEvents(
  context: StandingContext,
  projectId: ProjectId,
  version: Pick<LoadedVersion, "definition" | "program">,
): Promise<Pick<Preview, "seen" | "matched" | "passedOver">> {
  const { source } = version.definition;
  let [seen, matched, passedOver, read, bytes] = [0, 0, 0, 0, 0];
  if (source.kind !== "trigger") return { seen, matched, passedOver };
  const work = context.meter.begin({ projectId });
  const beganMs = performance.now();
  const events = eventsForProject(context.db, projectId);
  const filterBy = { toolkitSlug: "", triggerSlug: source.slug, sinceMs: undefined, untilMs: undefined };
  let after: EventId | undefined;
  while (read < eventsMax) {
    const page = await events.list(filterBy, { after, limit: pageSize });
    for (const event of page) {
      read++;
      bytes += Buffer.byteLength(event.payload);
      if (bytes > bounds.bytes || performance.now() - beganMs > bounds.ms) return { seen, matched, passedOver };
      if (source.entity !== undefined && source.entity !== event.entityId) {
        passedOver++;
        continue;
      }
      seen++;
      const when = await testWhen(context, version, occurrenceOfEvent(event, eventOf(event)), work);
      if ("isDue" in when && when.isDue) matched++;
      if (work.isSliceOver()) await work.turn();
    }
    if (page.length < pageSize) break;
    after = page.at(-1)?.id;
  }
  return { seen, matched, passedOver };
}

async function timesOf(
  { source }: Definition,
  program: StandingProgramRecord | undefined,
  { fromMs, count, work }: { readonly fromMs: number; readonly count: number; readonly work: Work },
): Promise<Preview["times"]> {
  const next = nextOfSource(source);
  const times: { atMs: number; effectiveMs: number }[] = [];
  let atMs = await next(fromMs - 1, work);
  while (atMs !== undefined && times.length < count) {
    times.push({ atMs, effectiveMs: (program && fireTimeOf(program.id, atMs, source)) ?? atMs });
    atMs = await next(atMs, work);
  }
  return times;
}
