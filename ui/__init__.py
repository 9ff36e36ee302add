"""What the pages share: resources, state, controls, and the two components. All that imports streamlit."""
