import { startLinkPage } from "../link-page/start.tsx";
import { AnswerPage } from "./answer-page.tsx";
import type { LinkedAsk } from "./asked.ts";

startLinkPage({
  path: "answer",
  purpose: "lets one person answer one question",
  draw: (answer, send) => <AnswerPage first={answer as LinkedAsk} send={send} />,
});
