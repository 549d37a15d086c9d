import { startLinkPage } from "../link-page/start.tsx";
import { ConnectPage } from "./connect-page.tsx";
import type { WantedAccount } from "./wanted.ts";

startLinkPage({
  path: "connect",
  purpose: "lets one person connect one account",
  draw: (answer, send) => <ConnectPage wanted={answer as WantedAccount} send={send} />,
});
