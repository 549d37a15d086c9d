import { Link } from "@tanstack/react-router";
import { giveUpSeat } from "../../session/enter.ts";
import { type Seat, useSession } from "../../session/session.ts";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { announce } from "../../ui/notice/announce.tsx";

/** Draws the keys with which this browser is signed in, one per project, with buttons that add and remove a key. */
export function Seats({ projectId }: { projectId: string }) {
  const seats = useSession()?.seats ?? [];
  return (
    <Section
      title="Signed-in keys"
      actions={
        <Link to="/add-seat" className={buttonClass()}>
          Add a key
        </Link>
      }
    >
      <Items label="Signed-in keys">
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
      words="Sign out"
      title={`Sign out of ${name}?`}
      says="This browser then needs a key to open it again. The key stays valid, and other browsers stay signed in."
      confirm="Sign out"
      busy="Signing out"
      act={async () => {
        const refusal = await giveUpSeat(seat.keyId);
        if (refusal !== undefined) throw new Error(`${refusal.message} ${refusal.help}`);
        announce(`Signed out of ${name}.`);
      }}
    />
  );
}
