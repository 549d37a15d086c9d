import { useQuery } from "@connectrpc/connect-query";
import { AdminService } from "@svc/gen/admin";
import type { GetBacklogResponse } from "@svc/gen/stats";
import { useNow } from "../../clock.ts";
import { useSession } from "../../session/session.ts";
import { transportFor } from "../../session/transport.ts";
import { classNames } from "../../ui/class-names.ts";
import { Icon } from "../../ui/icon.tsx";
import { Section } from "../../ui/layout/section.tsx";
import styles from "./activity.module.css";
import { ListLink } from "./list-link.tsx";
import { type Need, needsOf } from "./needs.ts";

const minuteMs = 60_000;
const countedPosts = 100;

/**
 * Returns the number of quarantined webhook posts (which svc could not turn into events), up to 100, which only the administrator can read.
 * `quarantined` is undefined if the browser is not signed in as administrator. `isLoading` is true before the first answer.
 */
export function useQuarantined(): { quarantined: { count: number; more: boolean } | undefined; isLoading: boolean } {
  const isAdmin = useSession()?.seats.some(({ role }) => role === "admin") ?? false;
  const posts = useQuery(
    AdminService.method.listQuarantinedPosts,
    { pageSize: countedPosts },
    { transport: transportFor("admin"), enabled: isAdmin, refetchInterval: minuteMs },
  );
  const quarantined = posts.data && { count: posts.data.posts.length, more: posts.data.nextPageToken !== "" };
  return { quarantined, isLoading: posts.isLoading };
}

/** Draws the list of actions that wait for a person, each with a link to the page where the person can do it. */
export function Needs({
  projectId,
  backlog,
  quarantined,
}: {
  projectId: string;
  backlog: GetBacklogResponse;
  quarantined: { count: number; more: boolean } | undefined;
}) {
  const now = useNow(minuteMs);
  const needs = needsOf(backlog, quarantined, now);
  return (
    <Section title="Needs attention">
      {needs.length === 0 ? (
        <p className={styles["well"]}>
          <Icon name="check" /> You're all caught up.
        </p>
      ) : (
        <ul className={styles["needs"]}>
          {needs.map((need) => (
            <li key={need.id}>
              <NeedLink need={need} projectId={projectId} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function NeedLink({
  need: { tone, icon, title, says, age, action, to, search },
  projectId,
}: {
  need: Need;
  projectId: string;
}) {
  return (
    <ListLink
      list={{ to, search }}
      projectId={projectId}
      className={classNames(styles["need"], tone !== "plain" && styles[tone])}
    >
      <Icon name={icon} />
      <span>
        <b>{title}</b>
        <span className={styles["says"]}>{says}</span>
      </span>
      {age !== "" && <span className={styles["age"]}>oldest {age}</span>}
      <span className={styles["action"]}>{action}</span>
    </ListLink>
  );
}
