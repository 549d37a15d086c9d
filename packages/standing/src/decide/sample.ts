import type { JsonObject, ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { eventsForProject } from "@svc/db/events/repo";
import type { LoadedVersion } from "../versions.ts";
import { eventOf, occurrenceOfEvent } from "./event.ts";
import { type Fire, givenOf } from "./given.ts";
import { inputOf } from "./input.ts";

/** Events that are looked through for one of the account that a source names. */
const eventsMax = 20;

/**
 * An example of the input that a definition makes: of its next time, or of the newest event that it listens to. Undefined for the
 * program's own, also where none can be made. `firstAt`: its next time, where it has one.
 */
export async function sampleInput(
  db: Executor,
  projectId: ProjectId,
  version: Pick<LoadedVersion, "definition" | "program">,
  firstAt: number,
): Promise<JsonObject | undefined> {
  const { definition } = version;
  const fire = await sampleFire(db, projectId, definition, firstAt);
  const input = fire && inputOf(version, givenOf(fire, definition.timeZone), undefined);
  return input === undefined || "fault" in input ? undefined : input.value;
}

async function sampleFire(
  db: Executor,
  projectId: ProjectId,
  { source }: LoadedVersion["definition"],
  firstAt: number,
): Promise<Fire | undefined> {
  if (source.kind !== "trigger") {
    return { kind: "schedule", fireAt: firstAt, missed: 0, previousAt: null };
  }
  const filter = { toolkitSlug: "", triggerSlug: source.slug, sinceMs: undefined, untilMs: undefined };
  const found = await eventsForProject(db, projectId).list(filter, { after: undefined, limit: eventsMax });
  const event = found.find(({ entityId }) => source.entity === undefined || entityId === source.entity);
  return event && { ...occurrenceOfEvent(event, eventOf(event)), previousAt: null };
}
