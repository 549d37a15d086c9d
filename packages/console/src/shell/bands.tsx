import { Code, ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { AdminService } from "@svc/gen/admin";
import { IdentityService } from "@svc/gen/identity";
import { useParams } from "@tanstack/react-router";
import { type Away, useAway } from "../session/reachability.ts";
import { classNames } from "../ui/class-names.ts";
import { Icon } from "../ui/icon.tsx";
import styles from "./shell.module.css";

/**
 * Interval in milliseconds between checks that the service answers and accepts the key. If a key is revoked, an open page stops soon, even
 * if the page makes no other calls.
 */
const askAgainMs = 1_500;

/** Draws the messages that the user must not miss. They are at the top of every page. */
export function Bands() {
  const away = useAway();
  // Id of the project whose page is open. Undefined on the administrator's pages, because they belong to no project. `getIdentity` needs a
  // project, so it is not called on those pages.
  const { projectId } = useParams({ strict: false });
  useQuery(
    IdentityService.method.getIdentity,
    {},
    {
      enabled: projectId !== undefined,
      // After a refusal the checks pause until the user signs in, because every answer would be the same.
      refetchInterval: ({ state }) => (isRefused(state.error) ? false : askAgainMs),
    },
  );
  // On the administrator's pages, `getIdentity` is not called. Therefore `listProjects` is repeated there while the service is unavailable,
  // to notice when the service works again.
  useQuery(
    AdminService.method.listProjects,
    { pageSize: 1 },
    { enabled: projectId === undefined && away !== undefined, refetchInterval: askAgainMs },
  );
  return (
    <section className={styles["bands"]} aria-label="About this session">
      {away !== undefined && <Reconnecting away={away} />}
      <NotPrivate />
    </section>
  );
}

function isRefused(error: unknown): boolean {
  return error !== null && ConnectError.from(error).code === Code.Unauthenticated;
}

const whoIsAway: Record<Away, string> = {
  service: "Connection lost",
  store: "The service can't reach its database",
};

/**
 * Draws the message that the page shows older data because the service or its database is unavailable. The message stays until the service
 * answers again.
 */
function Reconnecting({ away }: { away: Away }) {
  return (
    <div className={classNames(styles["band"], styles["warn"])} role="status">
      <Icon name="replay" size={12} />
      {whoIsAway[away]}. Retrying. Data may be out of date.
    </div>
  );
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.+\.localhost)$/;

/** Draws the warning that other people on the network could read the session, because the page has no https and is not on this machine. */
function NotPrivate() {
  if (location.protocol === "https:" || loopback.test(location.hostname)) return null;
  return (
    <div className={classNames(styles["band"], styles["bad"])}>
      <Icon name="alert" size={12} />
      Not https: others on the network can read this session.
    </div>
  );
}
