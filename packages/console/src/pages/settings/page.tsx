import { getRouteApi } from "@tanstack/react-router";
import { Page } from "../../ui/layout/page.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { AgentKeys } from "./agent-keys.tsx";
import { BrowserSettings } from "./browser-settings.tsx";
import { CallLimits } from "./call-limits.tsx";
import { DeploymentFacts } from "./deployment-facts.tsx";
import { Grants } from "./grants.tsx";
import { Seats } from "./seats.tsx";
import { Secrets } from "./secrets.tsx";
import { Sessions } from "./sessions.tsx";
import { WhoAmI } from "./who-am-i.tsx";

const route = getRouteApi("/p/$projectId/settings");

/** Who is signed in and with what, what this browser is set to, and what the project is held to. */
export default function SettingsPage() {
  const { projectId } = route.useParams();
  const { tab = "you" } = route.useSearch();
  const navigate = route.useNavigate();
  const you = (
    <Stack>
      <WhoAmI />
      <Seats projectId={projectId} />
      <Sessions />
    </Stack>
  );
  const agents = (
    <Stack>
      <Grants projectId={projectId} />
      <AgentKeys projectId={projectId} />
    </Stack>
  );
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        selected={tab}
        onSelect={(id) => void navigate({ search: { tab: id }, replace: true })}
        tabs={[
          { id: "you", words: "You", panel: you },
          { id: "browser", words: "This browser", panel: <BrowserSettings /> },
          { id: "agents", words: "Agents", panel: agents },
          { id: "secrets", words: "Secrets", panel: <Secrets projectId={projectId} /> },
          { id: "limits", words: "Call limits", panel: <CallLimits projectId={projectId} /> },
          { id: "deployment", words: "Deployment", panel: <DeploymentFacts /> },
        ]}
      />
    </Page>
  );
}
