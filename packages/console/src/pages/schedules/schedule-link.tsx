import { Link } from "@tanstack/react-router";

/** A link to the page of a schedule. */
export function ScheduleLink({ projectId, id, words = id }: { projectId: string; id: string; words?: string }) {
  return (
    <Link to="/p/$projectId/schedules/$scheduleId" params={{ projectId, scheduleId: id }} title={id}>
      <code>{words}</code>
    </Link>
  );
}
