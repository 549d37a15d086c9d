import { getRouteApi, Link } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";
import { Section } from "../../ui/section.tsx";
import { Attempts } from "./attempts.tsx";

const route = getRouteApi("/p/$projectId/deliveries/$deliveryId");

/** One delivery and its attempts. */
export default function DeliveryPage() {
  const { projectId, deliveryId } = route.useParams();
  return (
    <Page
      title={`Delivery ${deliveryId}`}
      back={
        <Link to="/p/$projectId/deliveries" params={{ projectId }}>
          Deliveries
        </Link>
      }
    >
      <Section title="Attempts">
        <Attempts deliveryId={deliveryId} isPending />
      </Section>
    </Page>
  );
}
