import { Code, ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { AdminService } from "@svc/gen/admin";
import { IdentityService } from "@svc/gen/identity";
import { useParams } from "@tanstack/react-router";
import { isSandboxPage } from "../session/base.ts";
import { type Away, useAway } from "../session/reachability.ts";
import { classNames } from "../ui/class-names.ts";
import { Icon } from "../ui/icon.tsx";
import styles from "./shell.module.css";

/**
 * Interval of checks that the service answers and knows the key, in milliseconds. After a key is revoked, an open page stops soon,
 * even if it makes no other calls.
 */
const askAgainMs = 1_500;

/** Messages across the top of every page that the user must not miss. */
export function Bands() {
  const away = useAway();
  // The administrator's seat belongs to no project, and has no identity to ask for.
  const { projectId } = useParams({ strict: false });
  const identity = useQuery(
    IdentityService.method.getIdentity,
    {},
    {
      enabled: projectId !== undefined,
      // After a refusal it waits until the user signs in: each answer would be the same until then.
      refetchInterval: ({ state }) => (isRefused(state.error) ? false : askAgainMs),
    },
  );
  // On these pages no other call would notice that calls are answered again.
  useQuery(
    AdminService.method.listProjects,
    { pageSize: 1 },
    { enabled: projectId === undefined && away !== undefined, refetchInterval: askAgainMs },
  );
  return (
    <section className={styles["bands"]} aria-label="About this session">
      {away !== undefined && <Reconnecting away={away} />}
      {(identity.data?.deployment?.sandbox ?? isSandboxPage) && <Sandbox />}
      <NotPrivate />
    </section>
  );
}

function isRefused(error: unknown): boolean {
  return error !== null && ConnectError.from(error).code === Code.Unauthenticated;
}

const whoIsAway: Record<Away, string> = {
  service: "the service does not answer",
  store: "the service cannot reach its database",
};

/** Says that the page shows older data, until calls are answered again. */
function Reconnecting({ away }: { away: Away }) {
  return (
    <div className={classNames(styles["band"], styles["warn"])} role="status">
      <Icon name="replay" size={12} />
      Reconnecting: {whoIsAway[away]}. What is shown is from before.
    </div>
  );
}

/** Says that no real app is called. If one is, the notice is shown at the button that calls it. */
function Sandbox() {
  return (
    <div className={classNames(styles["band"], styles["info"])}>
      <Icon name="tool" size={12} />
      SANDBOX: an emulator answers in place of the apps.
    </div>
  );
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.+\.localhost)$/;

/** Warns if others on the network could read the session: the page has no https and is not on this machine. */
function NotPrivate() {
  if (location.protocol === "https:" || loopback.test(location.hostname)) return null;
  return (
    <div className={classNames(styles["band"], styles["bad"])}>
      <Icon name="alert" size={12} />
      Not https: this session can be read on the way.
    </div>
  );
}
