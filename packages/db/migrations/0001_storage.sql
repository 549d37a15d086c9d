-- What the schema's language cannot say.
INSERT INTO "routing_state" ("id", "version") VALUES (1, 1);--> statement-breakpoint
-- A delivery is inserted small and settled large (its attempts): with room for that on its page the update is HOT, which
-- spares three index entries an event. Pages fill up all the same.
ALTER TABLE "deliveries" SET (fillfactor = 20);--> statement-breakpoint
-- Rows live for milliseconds here: vacuum by count, not by share of a size that says nothing.
ALTER TABLE "delivery_tasks" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.0, autovacuum_analyze_threshold = 50000);
