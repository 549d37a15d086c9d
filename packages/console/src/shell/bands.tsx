import { useQuery } from "@connectrpc/connect-query";
import { IdentityService } from "@svc/gen/identity";
import { useReachable } from "../session/reachability.ts";
import { classNames } from "../ui/class-names.ts";
import { Icon } from "../ui/icon.tsx";
import styles from "./shell.module.css";

/** What whoever looks must not miss, across the top of every page. */
export function Bands() {
  return (
    <div className={styles["bands"]}>
      <Reconnecting />
      <NotPrivate />
    </div>
  );
}

/** So often is asked whether the service answers and knows the key: what is open stops soon after that is revoked, and it is told here alone while a stream tells the rest. */
const askAgainMs = 1_500;

/** Says that what is shown is from before, until the service answers again. */
function Reconnecting() {
  const isReachable = useReachable();
  useQuery(IdentityService.method.getIdentity, {}, { refetchInterval: askAgainMs });
  if (isReachable) return null;
  return (
    <div className={classNames(styles["band"], styles["warn"])} role="status">
      <Icon name="replay" size={12} />
      Reconnecting: the service does not answer. What is shown is from before.
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
