import { useQuery } from "@connectrpc/connect-query";
import { ConsoleService, type ConsoleSession } from "@svc/gen/console";
import { Link } from "@tanstack/react-router";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { giveUpSeat } from "../../session/enter.ts";
import { type Seat, useSession } from "../../session/session.ts";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { buttonClass } from "../../ui/buttons/plain-button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { announce } from "../../ui/notice/announce.tsx";
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

/** The keys that this browser is signed in with, one for each project, and the ways to add one and to give one up. */
export function Seats({ projectId }: { projectId: string }) {
  const seats = useSession()?.seats ?? [];
  return (
    <Section
      title="Seats of this browser"
      actions={
        <Link to="/add-seat" className={buttonClass()}>
          Add a key of another project
        </Link>
      }
    >
      <Items label="Seats">
        {seats.map((seat) => (
          <Item
            key={seat.keyId}
            title={seat.role === "admin" ? "Administration" : seat.projectName}
            actions={<GiveUp seat={seat} />}
          >
            {seat.role === "admin" ? "the administrator's token" : `key ${seat.keyName || seat.keyId}, ${seat.role}`}
            {seat.projectId === projectId && ", this project"}
          </Item>
        ))}
      </Items>
    </Section>
  );
}

function GiveUp({ seat }: { seat: Seat }) {
  const name = seat.role === "admin" ? "Administration" : seat.projectName;
  return (
    <ConfirmButton
      words="Give up"
      title={`Give up the seat for ${name}?`}
      says="This browser then asks for a key to show it again. The key itself stays as it is, and other browsers stay signed in."
      confirm="Give up the seat"
      busy="Giving up"
      act={async () => {
        const refusal = await giveUpSeat(seat.keyId);
        if (refusal !== undefined) throw new Error(`${refusal.message} ${refusal.help}`);
        announce(`The seat for ${name} is given up.`);
      }}
    />
  );
}
