import "../ui/tokens.css";
import "../ui/base.css";
import { type ReactNode, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { type PageAnswer, postPage } from "../session/page-post.ts";
import { applyTheme } from "../shell/preferences.ts";
import { DeadLink, LinkFrame, LinkWaits, NoAnswer } from "./frame.tsx";
import { takeToken } from "./take-token.ts";

/** What a page of a link does with its token. */
export type LinkPage = {
  /** The console's path that it posts to. */
  path: "answer" | "connect";
  /** What such a link is for, as a sentence that names it: "answers one question". */
  purpose: string;
  /** Draws what the service answered; `send` posts more with the token. */
  draw: (answer: unknown, send: (body: object) => Promise<PageAnswer>) => ReactNode;
};

/**
 * Runs the page of a link: the token is out of the address before anything else, and what it opens is read once, outside of what renders.
 * A link that is opened in the same tab takes the place of the one before: the browser changes the fragment, and loads nothing.
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
