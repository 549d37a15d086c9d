import "../ui/tokens.css";
import "../ui/base.css";
import { type ReactNode, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { type PageRefusal, type PostAnswer, postPage } from "../session/page-post.ts";
import { applyTheme } from "../shell/preferences.ts";
import { Button } from "../ui/buttons/button.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { sentence } from "../words/text.ts";
import styles from "./start.module.css";

/** One of the two pages that links open: to answer a question, or to connect an account. */
export type LinkPage = {
  /** Path of the console's endpoint to which the page sends its POST requests. */
  path: "answer" | "connect";
  /** Purpose of a link to this page, as a phrase that begins with a verb, for example "answers one question". */
  purpose: string;
  /**
   * Draws the page of a link, such as the page on which a person connects an account. `answer`: the server's response to the first POST
   * request. `send` makes further POST requests with the token of the link.
   */
  draw: (answer: unknown, send: (body: object) => Promise<PostAnswer>) => ReactNode;
};

/**
 * Starts the page that a link opens (to answer a question or to connect an account). First removes the token from the browser's address,
 * then sends the token to the service once. If the user opens another such link in the same tab, the browser does not load the page again.
 * Then this function starts the page again with the new token.
 */
export function startLinkPage(page: LinkPage): void {
  const first = takeToken();
  applyTheme();
  const place = document.getElementById("root");
  if (place === null) throw new Error("the page has no element with the id root");
  const root = createRoot(place);
  void show(root, page, first);
  window.addEventListener("hashchange", () => {
    const token = takeToken();
    if (token !== undefined) void show(root, page, token);
  });
}

async function show(root: Root, page: LinkPage, token: string | undefined): Promise<void> {
  const draw = (key: string, node: ReactNode) =>
    root.render(
      <StrictMode>
        <LinkFrame key={key}>{node}</LinkFrame>
      </StrictMode>,
    );
  if (token === undefined) return draw("none", <NoAnswer purpose={page.purpose} />);
  draw("waits", <LinkWaits />);
  const send = (body: object) => postPage(page.path, { token, ...body });
  const opened = await send({});
  if ("answer" in opened) return draw(token, page.draw(opened.answer, send));
  draw("dead", <DeadLink refusal={opened.refusal} onRetry={() => void show(root, page, token)} />);
}

/**
 * Returns the token of a link (`#<token>`), and removes it from the address and the history, so that no copy, screenshot or extension finds
 * it there later. Returns undefined if the address has no token.
 */
function takeToken(): string | undefined {
  const token = /^#([\w-]{20,100})$/.exec(location.hash)?.[1];
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname);
  return token;
}

/** Draws the frame of a link's page: one card, wide enough to read and narrow enough for a phone. */
function LinkFrame({ children }: { children: ReactNode }) {
  return (
    <div className={styles["screen"]}>
      <header className={styles["brand"]}>
        <img src="./icon.svg" alt="" width={20} height={20} />
        svc
      </header>
      <main className={styles["card"]}>{children}</main>
    </div>
  );
}

/** Draws the page of a link while the service has not answered yet. */
function LinkWaits() {
  return <h1>One moment…</h1>;
}

/**
 * Draws the page of a link that no longer works: the reason, and whom to ask. If the service could not be reached, the page offers to try
 * again.
 */
function DeadLink({ refusal: { message, help, reason }, onRetry }: { refusal: PageRefusal; onRetry: () => void }) {
  const isDead = reason === "LINK_INVALID";
  return (
    <Stack>
      <title>This link opens nothing · svc</title>
      <h1>{isDead ? "This link does not work" : "This did not work"}</h1>
      <div role="alert">
        <Notice tone={isDead ? "warn" : "bad"} title={sentence(message)}>
          <p>{help}</p>
        </Notice>
      </div>
      {!isDead && <Button onPress={onRetry}>Try again</Button>}
    </Stack>
  );
}

/** Draws the page of a link without a token: a user typed the address or reloaded the page. */
function NoAnswer({ purpose }: { purpose: string }) {
  return (
    <Stack>
      <title>Open the link again · svc</title>
      <h1>Open the link again</h1>
      <p>
        {`A link to this page ${purpose}. The secret in the link is removed from the address when it is opened, so that it cannot be found there later.`}
      </p>
      <p>Open the link that you received again. Opening it changes nothing.</p>
    </Stack>
  );
}
