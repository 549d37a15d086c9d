import { useQuery } from "@connectrpc/connect-query";
import { ConsoleService, type ConsoleSession } from "@svc/gen/console";
import { useRefresh } from "../../calls/refresh.ts";
import { useWrite } from "../../calls/write.ts";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Time } from "../../ui/values/time.tsx";
import { browserWords } from "../../words/browsers.ts";

/** Every browser that is signed in with the key of this project's seat, this one among them, and the way to end one. */
export function Sessions() {
  const list = useQuery(ConsoleService.method.listSessions, {});
  return (
    <Section title="Sessions of this key">
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={2} />}
      {list.data !== undefined && (
        <Items label="Sessions">
          {list.data.sessions.map((session) => (
            <SessionItem key={session.id} session={session} />
          ))}
        </Items>
      )}
    </Section>
  );
}

function SessionItem({ session: { id, userAgent, createdAt, usedAt, expiresAt } }: { session: ConsoleSession }) {
  const refresh = useRefresh(ConsoleService);
  const end = useWrite(ConsoleService.method.endSession, {
    onSuccess: () => {
      announce("The session has ended for this key.");
      return refresh();
    },
  });
  return (
    <Item
      title={<span title={userAgent}>{browserWords(userAgent)}</span>}
      actions={
        <ConfirmButton
          words="End"
          title="End this session?"
          says="Its browser has to sign in again. Where it has seats of other keys, it keeps those. If it is this browser, this page asks for a key."
          confirm="End the session"
          busy="Ending"
          act={() => end.sendAsync({ id })}
        />
      }
    >
      signed in <Time at={createdAt} />, last used <Time at={usedAt} />, ends <Time at={expiresAt} />
    </Item>
  );
}
