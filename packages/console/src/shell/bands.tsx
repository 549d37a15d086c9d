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
 * So often is asked whether the service answers and knows the key: what is open stops soon after that is revoked, whatever else the page
 * asks for.
 */
const askAgainMs = 1_500;

/** What whoever looks must not miss, across the top of every page. */
export function Bands() {
  const away = useAway();
  // The administrator's seat is of no project, and has no identity to ask for.
  const { projectId } = useParams({ strict: false });
  const identity = useQuery(
    IdentityService.method.getIdentity,
    {},
    {
      enabled: projectId !== undefined,
      // Refused, it waits until somebody has signed in: until then each answer would be the same.
      refetchInterval: ({ state }) => (isRefused(state.error) ? false : askAgainMs),
    },
  );
  // There nothing else would find out that calls are answered again.
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

/** Says that what is shown is from before, until calls are answered again. */
function Reconnecting({ away }: { away: Away }) {
  return (
    <div className={classNames(styles["band"], styles["warn"])} role="status">
      <Icon name="replay" size={12} />
      Reconnecting: {whoIsAway[away]}. What is shown is from before.
    </div>
  );
}

/** Says that no real app is called. Where one is, that stands at what would call it. */
function Sandbox() {
  return (
    <div className={classNames(styles["band"], styles["info"])}>
      <Icon name="tool" size={12} />
      SANDBOX: an emulator answers in place of the apps.
    </div>
  );
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.+\.localhost)$/;

/** Warns where the session can be read on its way: neither https nor this machine. */
function NotPrivate() {
  if (location.protocol === "https:" || loopback.test(location.hostname)) return null;
  return (
    <div className={classNames(styles["band"], styles["bad"])}>
      <Icon name="alert" size={12} />
      Not https: this session can be read on the way.
    </div>
  );
}
