import { type FailureGroup, type ListFailuresResponse, TraceKind } from "@svc/gen/stats";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Time } from "../../ui/values/time.tsx";
import styles from "./activity.module.css";
import { ListLink } from "./list-link.tsx";

const shownMax = 5;

const icons: Partial<Record<TraceKind, IconName>> = {
  [TraceKind.CALL]: "plug",
  [TraceKind.DELIVERY]: "event",
  [TraceKind.JOB]: "play",
};

/** Draws the five largest groups of failures of the last 24 hours, each with a link to its page. Draws nothing if nothing failed. */
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
  const { kind, title, count, lastAt, fingerprint } = group;
  return (
    <ListLink
      list={{ to: `/p/$projectId/failures/${fingerprint}`, search: {} }}
      projectId={projectId}
      className={`${styles["need"]} ${styles["bad"]}`}
    >
      <Icon name={icons[kind] ?? "alert"} />
      <span>
        <b>{title}</b>
        <span className={styles["says"]}>
          {count === 1 ? "Once" : `${count.toLocaleString("en")} times`} in 24 hours, last <Time at={lastAt} />
        </span>
      </span>
      <span className={styles["action"]}>Open</span>
    </ListLink>
  );
}
