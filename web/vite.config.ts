import { defineConfig } from 'vite';

// One page, served by the sinew server from its root; no telemetry, no source maps in the binary.
export default defineConfig({ base: './', build: { chunkSizeWarningLimit: 1200 } });
