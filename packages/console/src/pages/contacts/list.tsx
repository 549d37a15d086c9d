import { getRouteApi } from "@tanstack/react-router";
import { seatFor, useSession } from "../../session/session.ts";
import { Page } from "../../ui/layout/page.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { AskEndpoints } from "./ask-endpoints.tsx";
import { Contacts } from "./contacts.tsx";

const route = getRouteApi("/p/$projectId/contacts");

/** Who is asked, and where else questions are posted to. */
export default function ContactsPage() {
  const { projectId } = route.useParams();
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const seat = seatFor(useSession(), projectId);
  const why = seat?.role === "approver" ? undefined : "Only an approver's key may do that; this seat's is a member's";
  return (
    <Page title="Contacts">
      <Tabs
        label="Contacts"
        selected={tab ?? "contacts"}
        onSelect={(id) => void navigate({ search: { tab: id === "endpoints" ? id : undefined }, replace: true })}
        tabs={[
          { id: "contacts", words: "Contacts", panel: <Contacts why={why} /> },
          { id: "endpoints", words: "Ask endpoints", panel: <AskEndpoints why={why} /> },
        ]}
      />
    </Page>
  );
}
