"""What every family of attacks is tried with: places, servers, clients."""
