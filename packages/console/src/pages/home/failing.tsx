import { type FailureGroup, type ListFailuresResponse, TraceKind } from "@svc/gen/stats";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Time } from "../../ui/values/time.tsx";
import styles from "./activity.module.css";
import { ListLink } from "./list-link.tsx";

const shownMax = 5;

const pages: Partial<Record<TraceKind, readonly [page: string, icon: IconName]>> = {
  [TraceKind.CALL]: ["calls", "plug"],
  [TraceKind.DELIVERY]: ["deliveries", "event"],
  [TraceKind.JOB]: ["jobs", "play"],
};

/** Draws the five largest groups of failures of the last 24 hours, each with a link to its newest member. Draws nothing if nothing failed. */
export function Failing({ projectId, failures: { groups } }: { projectId: string; failures: ListFailuresResponse }) {
  if (groups.length === 0) return null;
  return (
    <Section title="Failing now">
      <ul className={styles["needs"]}>
        {groups.slice(0, shownMax).map((group) => (
          <li key={group.fingerprint}>
            <GroupLink group={group} projectId={projectId} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function GroupLink({ group, projectId }: { group: FailureGroup; projectId: string }) {
  const { kind, title, count, lastAt, newestId } = group;
  const [page, icon] = pages[kind] ?? ["calls", "alert"];
  return (
    <ListLink
      list={{ to: `/p/$projectId/${page}/${newestId}`, search: {} }}
      projectId={projectId}
      className={styles["need"] ?? ""}
    >
      <Icon name={icon} />
      <span>
        <b>{title}</b>
        <span className={styles["says"]}>
          {count === 1 ? "Once" : `${count.toLocaleString("en")} times`} in 24 hours, last <Time at={lastAt} />
        </span>
      </span>
      <span className={styles["action"]}>Open the newest</span>
    </ListLink>
  );
}
