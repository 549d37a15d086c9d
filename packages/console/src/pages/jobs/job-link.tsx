import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/values/copy.tsx";

/** The id of a job, short, as a link to its page. */
export function JobLink({ projectId, id }: { projectId: string; id: string }) {
  return (
    <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId: id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}

/** A link to the page of a schedule. */
export function ScheduleLink({ projectId, id, words = id }: { projectId: string; id: string; words?: string }) {
  return (
    <Link to="/p/$projectId/schedules/$scheduleId" params={{ projectId, scheduleId: id }} title={id}>
      <code>{words}</code>
    </Link>
  );
}
