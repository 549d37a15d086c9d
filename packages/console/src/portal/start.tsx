import { type ReactNode, Suspense, useEffect } from "react";
import type { PageRefusal } from "../session/page-post.ts";
import { Button } from "../ui/buttons/button.tsx";
import { laterPart } from "../ui/later-part.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { PartFailed } from "../ui/notice/part-failed.tsx";
import { sentence, visible } from "../words/text.ts";
import styles from "./portal.module.css";
import { answerReplaced, type ClosedPortal, enterPortal, type ReplacedCustomer, usePortalState } from "./session.ts";
import { shadesOf } from "./shades.ts";

/** The pages of a customer. The browser loads them while the service opens the session. */
const Pages = laterPart(() => import("./pages.tsx"), PagesFailed);
void Pages.load();

/** Draws the pages of the customer who is signed in. If no customer is signed in, says why, and what to do. */
export function PortalStart() {
  const state = usePortalState();
  const color = state.kind === "open" ? state.session.portal.color : "";
  useEffect(() => showColor(color), [color]);
  if (state.kind === "opening") return <Card title="One moment…" />;
  if (state.kind === "asking") return <Replaced of={state} />;
  if (state.kind === "closed") return <Closed state={state} />;
  const { session } = state;
  return (
    <Suspense fallback={<Card title="One moment…" />}>
      <Pages key={session.half} session={session} />
    </Suspense>
  );
}

/** Sets the colours of the page to the shades of the project's color. An empty color keeps the colours of svc. */
function showColor(color: string): void {
  const { style } = document.documentElement;
  const [light, dark] = color === "" ? [] : [shadesOf(color, "light"), shadesOf(color, "dark")];
  for (const [property, shade] of [
    ["--accent", "accent"],
    ["--on-accent", "onAccent"],
    ["--accent-bg", "accentGround"],
  ] as const) {
    if (light === undefined || dark === undefined) style.removeProperty(property);
    else style.setProperty(property, `light-dark(${light[shade]}, ${dark[shade]})`);
  }
}

const newLink =
  "Open the portal again from the product that led you here, or ask the sender of your link for a new one.";

/**
 * Draws the question that appears if the opened link belongs to another customer than the one who is signed in. The person either signs in
 * as the link's customer, or stays signed in as the present one.
 */
function Replaced({ of }: { of: ReplacedCustomer }) {
  const { from, to } = of;
  return (
    <Card title={`Sign in as ${visible(to.entityId)}?`}>
      <p>
        This browser is signed in as <b>{visible(from.entityId)}</b> ({visible(from.projectName)}). The link that you
        opened is for <b>{visible(to.entityId)}</b> ({visible(to.projectName)}).
      </p>
      <p>Continue only if you expected this link. Endpoints that you create then belong to {visible(to.entityId)}.</p>
      <Button onPress={() => void answerReplaced(of, false)}>{`Stay signed in as ${visible(from.entityId)}`}</Button>
      <Button onPress={() => void answerReplaced(of, true)}>{`Sign in as ${visible(to.entityId)}`}</Button>
    </Card>
  );
}

function Closed({ state }: { state: ClosedPortal }) {
  if ("refusal" in state) return <Refused refusal={state.refusal} />;
  if ("by" in state)
    return (
      <Card title="You are signed in as someone else">
        <p>
          Another tab of this browser signed in as <b>{visible(state.by.seat.entityId)}</b>. This page is signed out.
        </p>
        <Button onPress={() => location.reload()}>{`Continue as ${visible(state.by.seat.entityId)}`}</Button>
      </Card>
    );
  if (state.why === "ended")
    return (
      <Card title="Your access has ended">
        <p>
          Your link to this page has expired or was revoked, or you did not use the page for 12 hours. You are signed
          out. Your endpoints stay and receive events.
        </p>
        <p>{newLink}</p>
      </Card>
    );
  if (state.why === "signed out")
    return (
      <Card title="You are signed out">
        <p>Your endpoints stay and receive events. To sign in again, open your link again.</p>
      </Card>
    );
  return (
    <Card title="Open your link again">
      <p>
        A link opens this page. Its secret is removed from the address when the page opens, so that it is not found
        there later.
      </p>
      <p>{newLink}</p>
    </Card>
  );
}

/**
 * Draws the page that a customer sees if the service refused the portal link. If the refusal may be temporary, the page has a button to try
 * again.
 */
function Refused({ refusal: { message, help, reason } }: { refusal: PageRefusal }) {
  const isDead = reason === "LINK_INVALID";
  return (
    <Card title={isDead ? "This link does not work" : "This did not work"}>
      <div role="alert">
        <Notice tone={isDead ? "warn" : "bad"} title={sentence(message)}>
          <p>{isDead ? newLink : help}</p>
        </Notice>
      </div>
      {!isDead && <Button onPress={() => void enterPortal()}>Try again</Button>}
    </Card>
  );
}

/** Draws the page that a customer sees if the file of the pages could not be loaded. */
function PagesFailed({ onRetry }: { onRetry: () => void }) {
  return (
    <Card title="This page could not be loaded">
      <PartFailed onRetry={onRetry} />
    </Card>
  );
}

/** Draws a page that consists of one card. Sets the title of the browser page, too. */
function Card({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <main className={styles["screen"]}>
      <div className={styles["card"]}>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
