ALTER TABLE "replays" ALTER COLUMN "until" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "replays" ADD COLUMN "of_pause" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "paused_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "paused_replay_id" uuid;