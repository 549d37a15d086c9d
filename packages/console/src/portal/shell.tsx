import { Link, Outlet, useParams } from "@tanstack/react-router";
import { useContext } from "react";
import { Button } from "../ui/buttons/button.tsx";
import { SiteName } from "../ui/layout/page.tsx";
import { LiveRegion } from "../ui/notice/announce.tsx";
import { visible } from "../words/text.ts";
import { Customer } from "./customer.ts";
import styles from "./portal.module.css";
import { signOut } from "./session.ts";

/** Draws the frame of every page: the logo and the name of the project, the navigation, and the button that signs out. */
export function PortalShell() {
  const name = useContext(SiteName);
  const customer = useContext(Customer);
  const logo = customer?.portal.logo ?? "";
  const { projectId = "" } = useParams({ strict: false });
  return (
    <div className={styles["shell"]}>
      <header className={styles["head"]}>
        <span className={styles["brand"]}>
          {logo !== "" && <img className={styles["logo"]} src={logo} alt="" />}
          {visible(name)}
        </span>
        <nav aria-label="Pages" className={styles["nav"]}>
          <Link to="/p/$projectId/subscriptions" params={{ projectId }} className={styles["link"]}>
            Endpoints
          </Link>
          <Link to="/p/$projectId/event-types" params={{ projectId }} className={styles["link"]}>
            Event types
          </Link>
        </nav>
        <span className={styles["end"]}>
          <span className={styles["who"]}>Signed in as {visible(customer?.seat.entityId ?? "")}</span>
          <Button kind="quiet" onPress={() => void signOut()}>
            Sign out
          </Button>
        </span>
      </header>
      <main className={styles["main"]}>
        <Outlet />
      </main>
      <LiveRegion />
    </div>
  );
}
